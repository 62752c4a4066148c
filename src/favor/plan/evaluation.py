"""What is measured, scored and compared: the metric families of an experiment, paired tests, and what they read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from favor.analysis.settings import Compared, ComparedRows, Participation
from favor.federation.factors import Factors
from favor.federation.settings import AskedPrompts, PromptLists
from favor.figures.specs import declared_figure
from favor.foundation.errors import UserError
from favor.foundation.registry import FIGURES, METRIC_FAMILIES
from favor.plan.job_settings import Settings, job_settings, not_none
from favor.plan.keys import Key, run_key
from favor.plan.project import Inputs, alternatives
from favor.plan.readings import FAMILY as VALIDATION
from favor.plan.tables import RETRIEVAL, Tables
from favor.plan.training import TrainingComponent
from favor.report.settings import Gallery
from favor.scores.settings import Efficiency, Scores, Scoring, Spaces, TrainedRun
from favor.studies.settings import TaskScoring

_COMMON = "prompts.common"


@dataclass(eq=False)
class Evaluation(TrainingComponent):
    """The measurements, scores and paired tests of a project's experiments."""

    tables: Tables

    # What is evaluated

    def families(self, experiment: str) -> list[str]:
        """Return the metric families behind the tables of an experiment and of its sweeps, and behind its figures."""
        section = self.experiments[experiment]
        labels = [*section.tables, *(label for sweep in self.tables.sweeps_of(experiment) for label in sweep.tables)]
        families = {family for label in labels for family in self.tables.sources(experiment, label)}
        families.update(*(self.figure_families(experiment, figure) for figure in self.figures(experiment)))
        if any(self.tables.specs[label].prints_style for label in labels):
            families.add(RETRIEVAL)
        if section.training.validation is not None and labels:
            families.add(VALIDATION)
        if "all" in section.figures:
            families.add("quality")  # no figure draws it; it is kept beside the others
        return sorted(families)

    def figures(self, experiment: str) -> list[str]:
        """Return the figures that an experiment draws, of which it can compute the metric families.

        The figure over temperatures needs two rows of one method that differ in it, the figure of rates a choice.
        """
        section = self.experiments[experiment]
        chosen = [figure for figure in FIGURES.names() if figure in section.figures or "all" in section.figures]
        computed = set(self.tables.computable(experiment)) if chosen else set()
        points = {(section.methods[row].get("method", row), at) for row, (at, _) in self.sampling(experiment).items()}
        varied = max(Counter(method for method, _ in points).values()) > 1
        absent = {name for name, there in (("sampling", varied), ("tuned", section.tuned)) if not there}
        return [
            figure
            for figure, asks in ((figure, declared_figure(figure)) for figure in chosen)
            if computed.issuperset(asks.scores) and absent.isdisjoint(asks.inputs)
        ]

    def figure_families(self, experiment: str, figure: str) -> list[str]:
        """Return the families that a figure draws, and those of its optional ones that can be computed."""
        asks = declared_figure(figure)
        return [*asks.scores, *sorted(set(asks.optional) & set(self.tables.computable(experiment)))]

    def sampling(self, experiment: str) -> dict[str, list[float]]:
        section = self.experiments[experiment]
        rows = {row: section.row_generation(row) for row in section.methods}
        return {row: [generation.temperature, generation.top_p] for row, generation in rows.items()}

    def is_measured(self, experiment: str) -> bool:
        """Return whether a table, figure or sweep shows an experiment. One that is not shown serves others."""
        section = self.experiments[experiment]
        return bool(section.tables or section.figures or self.tables.sweeps_of(experiment))

    def keeps_adapters(self, seed: str) -> bool:
        """Return whether the clients' adapters of a seed stay after everything that reads them is made.

        An experiment that is not measured keeps its adapters, since it is run for them alone. Rules distinguish seeds,
        not experiments, so a seed that one experiment keeps is kept in all.
        """
        how = self.config.keep_adapters
        kept: set[int] = set()
        for name, section in self.experiments.items():
            if how == "all" or not self.is_measured(name):
                kept |= set(section.seeds)
            elif how == "first_seed":
                kept.add(section.seeds[0])
        return int(seed) in kept

    def seeds(self, kept: bool) -> str:
        """Return a regular expression of the seeds whose adapters are kept, or of the others."""
        seeds = {str(seed) for section in self.experiments.values() for seed in section.seeds}
        return alternatives(sorted(seed for seed in seeds if self.keeps_adapters(seed) == kept))

    def shown(self) -> list[str]:
        experiments = self.experiments
        return [name for name, experiment in experiments.items() if experiment.tables or experiment.figures]

    # What every run generated

    def run_generations(self, key: Key) -> str:
        return self.paths.generations.of(self.training.source_run(key))

    def generations(self, key: Key) -> list[str]:
        return [self.run_generations(run) for run in self.training.runs(key.experiment)]

    def common_generations(self, key: Key) -> list[str]:
        if self.project.experiment(key).prompts.common is None:
            return []
        runs = map(self.training.source_run, self.training.runs(key.experiment))
        return [self.paths.common_generations.of(run) for run in runs]

    # Prompts for somebody else to answer

    def asking(self) -> list[str]:
        """Return the measured experiments that generate outputs of their own."""
        experiments = self.experiments.items()
        return [name for name, each in experiments if self.is_measured(name) and each.outputs_of is None]

    def prompts_to_answer(self, key: object = None) -> list[str]:
        lists = self.prompts_settings(key).experiments
        return [file for each in lists for file in (*each.prompts.values(), *each.common_prompts)]

    def prompts_settings(self, key: object) -> PromptLists:
        experiments = []
        for own in (Key(experiment=name) for name in self.asking()):
            seeds = map(str, self.project.experiment(own).seeds)
            prompts = dict(zip(seeds, self.project.prompts(own), strict=True))
            experiments.append(AskedPrompts(prompts=prompts, common_prompts=self.training.common_prompts(own)))
        return PromptLists(experiments=experiments)

    # Embeddings: of the clients' human texts, of their continuations of the prompts, and of every output

    def outputs_in(self, key: Key, encoders: Sequence[str]) -> Inputs:
        """Return the inputs, by name, of a job that measures outputs in the spaces of encoders."""
        return {
            "generations": self.generations(key),
            "prompts": self.project.prompts(key),
            "sources": [self.project.sources(key, encoder) for encoder in encoders],
            "golds": self.paths.gold_embeddings.each(key, encoder=encoders),
            "embeddings": self.paths.generation_embeddings.each(key, encoder=encoders),
        }

    def measures_in(self, key: Key, encoders: Sequence[str]) -> Inputs:
        """Return the inputs of a job that reads what is measured once per text, too."""
        assistant = self.project.experiment(key).evaluation.assistant
        return self.outputs_in(key, encoders) | {
            "utility": self.paths.utility.of(key),
            "assistant": [] if assistant is None else self.paths.assistant_scores.of(key),
        }

    def style_sources(self, key: Key) -> str:
        return self.project.sources(key, self.project.experiment(key).style_encoder)

    # What is measured once per text

    def classifier(self, key: Key) -> list[str]:
        """Return the files of an experiment's assistant classifier, the weights of its encoder first."""
        paths, name = self.paths, not_none(self.project.experiment(key).evaluation.assistant)
        kinds = [paths.assistant_weights, paths.assistant_manifest]
        kinds += [paths.assistant_prototypes, paths.assistant_calibration]
        return [kind.of(assistant=name) for kind in kinds]

    # Scores

    def score_inputs(self, key: Key) -> Inputs:
        """Return what the job of a family reads: common prompts' outputs and others' scores if the family says so."""
        encoders = self.project.encoders_of(key)
        declared = [METRIC_FAMILIES.constant(key.family, name) for name in ("NEEDS", "USES")]
        common = self.common_generations(key) if _COMMON in declared else []
        named = METRIC_FAMILIES.constant(key.family, "READS").split()
        computed = self.tables.computable(key.experiment) if named else []
        return self.measures_in(key, encoders) | {
            "common_generations": common,
            "common_embeddings": self.paths.common_embeddings.each(key, encoder=encoders if common else []),
            "texts": self.project.texts(key),
            "scores": self.paths.scores.each(key, family=[family for family in named if family in computed]),
        }

    def score_settings(self, key: Key) -> dict[str, Any]:
        evaluation = self.project.experiment(key).evaluation
        bertscore = evaluation.bertscore if key.family == "utility" else None
        unseen = self.unseen_encoders(key) if key.family == "voice_kept" else []
        own = {"bertscore": bertscore, "unseen": unseen}
        settings = self._outputs_in_spaces(Scoring, key, family=key.family, **own)
        families = {key.family} & Scores.model_fields.keys()  # one that has settings, or none
        return {**settings.model_dump(), "scores": evaluation.scores.model_dump(include=families)}

    def score_tasks_inputs(self, key: Key) -> Inputs:
        encoders = self.project.encoders_of(key)
        return self.outputs_in(key, encoders) | {"drafts": self.paths.draft_embeddings.each(key, encoder=encoders)}

    def score_tasks_settings(self, key: Key) -> TaskScoring:
        return self._outputs_in_spaces(TaskScoring, key)

    def unseen_encoders(self, key: Key) -> list[str]:
        """Return the style encoders of an experiment that no method was trained with: those of its evaluation.

        The semantic encoder says what a text is about, not whose it is.
        """
        experiment = self.project.experiment(key)
        seen = {experiment.style_encoder, experiment.evaluation.semantic_encoder}
        return [name for name in self.project.encoders_of(key) if name not in seen]

    def _outputs_in_spaces(self, kind: type[Settings], key: Key, **values: Any) -> Settings:
        experiment, encoders = self.project.experiment(key), self.project.encoders_of(key)
        words = self.project.words(key)
        return job_settings(kind, experiment, experiment.evaluation, encoders=encoders, words=words, **values)

    def score_efficiency_settings(self, key: Key) -> Efficiency:
        runs = []
        shared = self.paths.benchmark("train_shared", self.paths.upload)
        personal = self.paths.benchmark("train_personal", self.paths.personal_pack)
        for run in self.training.runs(key.experiment):
            plan, jobs = self.project.plan(run), self.training.training_jobs(self.training.trainer(run))
            stage = plan.personal or plan.shared
            runs.append(
                TrainedRun(
                    seed=int(run.seed),
                    method=run.method,
                    logs=list(map(self.training.log, jobs)),
                    benchmarks=[(shared if hasattr(job, "track") else personal).of(job) for job in jobs],
                    trains=plan.shared.trains if plan.shared and not plan.personal else Factors(),
                    mixture=stage.mixture.kind if stage and stage.mixture else "",
                    ranks=list(stage.ranks) if stage and stage.ranks else [],
                )
            )
        return Efficiency(seeds=self.project.experiment(key).seeds, runs=runs)

    def certified(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return encoders by the first experiment that measures with them, "" for none: its human texts by encoder.

        Raises ``UserError`` for an encoder that the configuration or this machine does not have.
        """
        config, found = self.config, dict[str, dict[str, str]]()
        for name in names:
            if name not in config.encoders:
                raise UserError(f"there is no encoder '{name}'; the configuration has {', '.join(config.encoders)}")
            if name in self.project.absent:
                raise UserError(f"encoder '{name}' cannot be certified: {self.project.absent[name]}")
            keys = (Key(experiment=each) for each in config.experiments)
            using = next((key for key in keys if name in self.project.encoders_of(key)), None)
            texts = self.project.sources(using, name) if using else ""
            found.setdefault(using.experiment if using else "", {})[name] = texts
        return found

    def score_stel_settings(self, key: Key) -> Spaces:
        return Spaces(encoders=self.project.encoders_of(key))

    # Paired tests

    def _compared(self, key: Key) -> dict[str, Any]:
        declared = not_none(self.tables.specs[key.label].comparisons)
        roles, rows = self.tables.encoder_roles(key.experiment), self.project.experiment(key).methods
        encoders = self.project.encoders_of(key)
        metrics = {
            metric: [roles.get(role, role) for role in chosen if roles.get(role, role) in encoders]
            for metric, chosen in declared.metrics.items()
        }
        pairs = [pair for pair in declared.pairs if set(pair) <= set(rows)]
        return {"pairs": pairs, "metrics": metrics, "exact": declared.exact}

    def compared_encoders(self, key: Key) -> list[str]:
        return sorted({encoder for encoders in self._compared(key)["metrics"].values() for encoder in encoders})

    def compare_methods_inputs(self, key: Key) -> Inputs:
        return self.measures_in(key, self.compared_encoders(key))

    def compare_methods_settings(self, key: Key) -> Compared:
        experiment, encoders = self.project.experiment(key), self.compared_encoders(key)
        return job_settings(Compared, experiment, experiment.evaluation, encoders=encoders, **self._compared(key))

    def compare_all_inputs(self, key: Key) -> Inputs:
        return self.measures_in(key, self.project.encoders_of(key))

    def compare_all_settings(self, key: Key) -> ComparedRows:
        return self._outputs_in_spaces(ComparedRows, key, unseen=self.unseen_encoders(key))

    # Diagnostics

    def measure_allocation_inputs(self, key: Key) -> Inputs:
        """Return the adapters whose private residuals are measured: FAVoR's, or those of the first residual stage.

        Those of the first seed, as in the paper.
        """
        plans = self.project.plans(key.experiment).items()
        rows = [row for row, plan in plans if plan.personal is not None and plan.personal.residual]
        seed, chosen = self.project.experiment(key).seeds[0], sorted(rows, key=lambda row: row != "favor")[:1]
        runs = [run_key(key.experiment, seed, row) for row in chosen]
        return {
            "packs": [file for run in runs for file in self.training.bundles(run)],
            "behind": [file for run in runs for file in self.training.behind(run)],
        }

    def measure_participation_inputs(self, key: Key) -> Inputs:
        return self.outputs_in(key, [self.project.style_encoder(key)])

    make_gallery_inputs = measure_participation_inputs

    def measure_participation_settings(self, key: Key) -> Participation:
        experiment, name = self.project.experiment(key), key.experiment
        last_rounds = {
            row: {
                str(seed): self.training.last_rounds(name, str(seed), plan.shared.sampling) for seed in experiment.seeds
            }
            for row, plan in self.project.plans(name).items()
            if plan.shared is not None
        }
        return job_settings(Participation, experiment, last_rounds=last_rounds)

    # The gallery

    def galleries(self) -> list[str]:
        """Return the experiments with a gallery: those asked for, or else those of generated authors."""
        asked, corpora = self.config.report.gallery, self.config.corpora
        if asked is not None:
            return self.shown() if asked else []
        return [name for name in self.shown() if corpora[self.experiments[name].corpus].demo is not None]

    def make_gallery_settings(self, key: Key) -> Gallery:
        experiment = self.project.experiment(key)
        return job_settings(
            Gallery,
            experiment,
            rows=list(experiment.methods),
            display=self.project.titles(key.experiment),
            generated=self.config.corpora[experiment.corpus].demo is not None,
            words=self.project.words(key),
        )
