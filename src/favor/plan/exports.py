"""Exports of single runs for other people's tools: which may be asked for, and what they depend on.

What is wrong with a request is known from the configuration, so it is refused while jobs are planned.
"""

from dataclasses import dataclass
from pathlib import Path

from favor.federation.method import Plan, load_method
from favor.foundation.errors import UserError
from favor.foundation.names import nearest
from favor.plan.evaluation import Evaluation
from favor.plan.job_settings import Parameter, pick, plain, to_params
from favor.plan.keys import Key
from favor.plan.project import PlannerComponent
from favor.plan.training import Training
from favor.publish.release_layout import FAMILIES, check
from favor.publish.settings import PanExport, ReleasedRun

_SECTIONS = ("protocol", "allocation", "prompts", "federation", "lora", "training", "alignment", "generation")


@dataclass(eq=False)
class Exports(PlannerComponent):
    """The exports of a project's runs."""

    training: Training
    evaluation: Evaluation

    def adapters(self, key: Key) -> list[str]:
        """Return the adapters of a run, to export them as PEFT folders. Raises ``UserError`` for an unknown run."""
        self.project.check_run(key.experiment, key.method, key.seed)
        mixture = self.project.plan(key).generates.mixture
        if mixture is not None and mixture.kind == "token":
            raise UserError(
                f"{key.method}: its gate looks at every token, which an adapter in PEFT's format cannot do; export "
                "another row"
            )
        return self.training.adapters(key)

    # PAN's evaluator

    def pan_generations(self, key: Key) -> str:
        """Return the generations of a run, if PAN's evaluator can read them. Raises ``UserError`` if not."""
        self.project.check_run(key.experiment, key.method, key.seed)
        encoders = self.project.encoders_of(key.experiment)
        if key.encoder not in encoders:
            raise UserError(
                f"experiment '{key.experiment}' is not measured with encoder '{key.encoder}'; "
                f"{nearest(key.encoder, encoders)}"
            )
        return self.evaluation.run_generations(key)

    def export_pan_settings(self, key: Key) -> Parameter:
        return to_params(PanExport(method=key.method, seed=int(key.seed)))

    # The layout of the paper's release

    def released_generations(self, key: Key) -> str:
        """Return the generations of a run, if the released layout can hold them. Raises ``UserError`` if not."""
        self.project.check_run(key.experiment, key.method, key.seed)
        check(self.released_run(key))
        return self.evaluation.run_generations(key)

    def released_scores(self, key: Key) -> list[str]:
        return [self.paths.scores.of(experiment=key.experiment, family=family) for family in FAMILIES]

    def released_run(self, key: Key) -> ReleasedRun:
        config, experiment = self.config, self.project.experiment(key)
        row, corpus = self.project.rows[key.experiment, key.method], config.corpora[experiment.corpus]
        model, evaluation = config.base_models[experiment.base_model], experiment.evaluation
        method = row.module.rsplit(".", 1)[-1]
        shared, personal = row.plan.shared, row.plan.personal
        return ReleasedRun(
            dataset=corpus.paper_dataset or "",
            generated=corpus.demo is not None,
            row=key.method,
            title=self.project.titles(key.experiment)[key.method],
            method=method,
            seed=int(key.seed),
            style_encoder=experiment.style_encoder,
            style_encoder_title=config.encoders[experiment.style_encoder].title or experiment.style_encoder,
            base_model=model.title or experiment.base_model,
            quantisation=model.quantisation,
            hyperparameters=plain(row.hyperparameters),
            settings=pick(experiment, *_SECTIONS, "clients"),
            measured_with={
                "words": corpus.words,
                "bertscore_model": Path(evaluation.bertscore.model).name,
                "bertscore_layer": evaluation.bertscore.layer,
                "semantic_encoder": evaluation.semantic_encoder,
                "assistant_classifier": evaluation.assistant,
            },
            components=_components(row.plan),
            method_components=_components(load_method(method, {}, experiment)[1]),
            local_epochs_shared=shared.epochs if shared is not None else 0,
            local_epochs_private=personal.epochs if personal is not None else 0,
            client_updates=0
            if shared is None
            else sum(map(len, self.training.rounds(key.experiment, key.seed, shared.sampling))),
        )

    def export_release_settings(self, key: Key) -> Parameter:
        return to_params(self.released_run(key))


def _components(plan: Plan) -> dict[str, bool]:
    stages = [stage for stage in (plan.shared, plan.personal) if stage is not None]
    return {
        "shared_stage": plan.shared is not None,
        "proximal_term": any(stage.objective.proximal > 0 for stage in stages),
        "private_residual": plan.personal is not None and plan.personal.residual,
        "asce_alignment": any(stage.objective.alignment > 0 for stage in stages),
    }
