"""The figures of a project: what each of them reads, and what it knows of its experiment."""

from dataclasses import dataclass, field
from typing import Any

from favor.figures.specs import declared_figure
from favor.foundation.errors import UserError
from favor.foundation.names import nearest
from favor.foundation.registry import FIGURES
from favor.plan.evaluation import Evaluation
from favor.plan.job_settings import not_none
from favor.plan.keys import Key
from favor.plan.project import alternatives, unique
from favor.plan.tables import Tables
from favor.plan.training import TrainingComponent

OVERVIEWS = ("favor_overview", "pipeline")


@dataclass(eq=False)
class Figures(TrainingComponent):
    """The drawings of experiments, one file of :mod:`favor.figures.declarations` each, and of the workflow itself."""

    tables: Tables
    evaluation: Evaluation
    names: str = field(default_factory=lambda: alternatives(FIGURES.names()))

    def _sources(self, key: Key) -> dict[str, list[str]]:
        """Return the files behind each name that a figure may ask for (:data:`favor.figures.specs.FigureInput`)."""
        style = self.project.style_encoder(key)
        return {
            "training_logs": self.training.logs(key),
            # Not an input: results from before losses were kept have no such file, and are drawn without it.
            "pretraining": [],
            "encoder_manifests": list(self._trained_encoders(key).values()),
            "allocation": [self.project.allocation(key)],
            "source_embeddings": [self.evaluation.style_sources(key)],
            "gold_embeddings": [self.paths.gold_embeddings.of(key, encoder=style)],
            "generation_embeddings": [self.paths.generation_embeddings.of(key, encoder=style)],
            "generations": self.evaluation.generations(key),
            "coordinate_effects": [self.paths.coordinate_effects.of(key)],
            "adapter_energy": [self.paths.adapter_energy.of(key)],
            "participation": [self.paths.participation.of(key)],
            "evidence": [self.paths.evidence.of(key)],
            "sampling": [],
            "tuned": [],
        }

    def draw_figure_inputs(self, key: Key) -> dict[str, list[str]]:
        """Return the files that a figure reads, by the names in its declaration.

        Raises ``UserError`` for an unknown name, naming the nearest one.
        """
        asks = declared_figure(key.figure)
        sources = self._sources(key)
        for name in asks.inputs:
            if name not in sources:
                raise UserError(f"figure '{key.figure}' asks for '{name}'; {nearest(name, sources)}")
        families = self.evaluation.figure_families(key.experiment, key.figure)
        scores = {"scores": self.paths.scores.each(key, family=families)} if families else {}
        return {name: sources[name] for name in asks.inputs} | scores

    def _own_logs(self, key: Key) -> dict[str, list[str]]:
        """Return training logs by row, without those of a personal stage that another row trains."""
        logs: dict[str, list[str]] = {row: [] for row in self.project.experiment(key).methods}
        for row in self.training.runs(key.experiment):
            jobs = self.training.training_jobs(self.training.trainer(row))
            owns = self.training.owner(row.experiment, row.method) == row.method
            logs[row.method] += [self.training.log(job) for job in jobs if owns or hasattr(job, "track")]
        return logs

    def _trained_encoders(self, key: Key) -> dict[str, str]:
        encoders = self.config.encoders
        used = unique([self.project.experiment(key).style_encoder, *self.project.experiment(key).evaluation.encoders])
        return {name: self.paths.encoder_manifest.of(encoder=name) for name in used if encoders[name].training}

    def draw_figure_settings(self, key: Key) -> dict[str, Any]:
        context, inputs = self.tables.context(key.experiment), declared_figure(key.figure).inputs
        experiment = self.project.experiment(key)
        found: dict[str, Any] = {
            "methods": context.methods,
            "display": context.display,
            "references": context.references,
            "bases": {row: self.project.rows[key.experiment, row].module.rsplit(".", 1)[-1] for row in context.methods},
            "style_encoder": experiment.style_encoder,
            "unseen": self.evaluation.unseen_encoders(key),
            "logs": self._own_logs(key) if "training_logs" in inputs else {},
        }
        if "sampling" in inputs:
            found["sampling"] = self.evaluation.sampling(key.experiment)
        if "tuned" in inputs:
            found["tuned"] = not_none(experiment.tuned).points
        if "encoder_manifests" in inputs:
            found["encoders"] = list(self._trained_encoders(key))
        if "pretraining" in inputs and self.config.base_models[experiment.base_model].pretrain is not None:
            found["pretraining"] = self.paths.pretraining_losses.of(model=experiment.base_model)
        return found

    def labels(self, key: Key) -> dict[str, str]:
        return {"figure": declared_figure(key.figure).title, "name": key.figure}

    def files(self, kind: str) -> list[str]:
        return [
            self.paths.figure.of(experiment=name, figure=figure, kind=kind)
            for name in self.experiments
            for figure in self.evaluation.figures(name)
        ]

    def overviews(self, kind: str) -> list[str]:
        return self.paths.overview.each(figure=OVERVIEWS, kind=kind)
