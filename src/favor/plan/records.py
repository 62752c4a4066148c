"""What crosses the boundary of a client, and what every row ran with: its settings, and the values that check them."""

from collections.abc import Mapping
from typing import Any

from favor.config.experiments import ROW_GENERATION, Experiment
from favor.config.protocol import departures
from favor.federation.method import PersonalStage, Plan, SharedStage, needs_shared, plan_values
from favor.federation.row_plan import method_departures, stage_rate
from favor.federation.settings import Boundary, RunBoundary
from favor.plan.keys import Key
from favor.plan.project import Inputs, unique
from favor.plan.training import TrainingComponent


class Records(TrainingComponent):
    """The records of a project's runs."""

    def _homes(self, key: Key) -> list[Key]:
        return [self.training.trainer(run) for run in self.training.runs(key.experiment)]

    def _kept_bundles(self, run: Key, plan: Plan) -> list[str]:
        if plan.inference in ("endpoint", "personal"):
            return self.training.bundles(run)
        return [] if plan.shared is None else self.training.kept_states(run)

    def final_recipients(self, run: Key, plan: Plan) -> list[str]:
        """Return the clients that get a final shared adapter: all, or those never sampled, to generate with.

        Where it comes from another experiment, all of them get it, to start from or to generate with.
        """
        everyone = self.training.clients(run.experiment)
        if needs_shared(plan):
            return everyone
        if plan.shared is None or plan.never_sampled == "dropped":
            return []
        fine_tuned = plan.personal is not None and plan.personal.start == "final"
        if plan.inference == "server" or plan.global_half == "final" or fine_tuned:
            return everyone
        return [client for client in everyone if client not in self.training.last(run)]

    def record_boundary_inputs(self, key: Key) -> Inputs:
        runs = self.record_boundary_settings(key).runs
        return {
            "traffic": unique(file for run in runs for file in run.traffic),
            "packs": unique(file for run in runs for file in run.packs),
            "behind": unique(file for run in self._homes(key) for file in self.training.behind(run)),
            "final": unique(run.final for run in runs if run.final is not None),
            "texts": self.project.texts(key),
        }

    def record_boundary_settings(self, key: Key) -> Boundary:
        runs = []
        for row, run in zip(self.training.runs(key.experiment), self._homes(key), strict=True):
            plan = self.project.plan(run)
            recipients = self.final_recipients(run, plan)
            track = [] if plan.shared is None else [plan.shared.track]
            numbers = range(1, self.project.experiment(run).federation.rounds + 1)
            runs.append(
                RunBoundary(
                    seed=int(run.seed),
                    method=row.method,
                    traffic=self.paths.traffic.each(run, track=track, next_round=numbers),
                    packs=self._kept_bundles(run, plan),
                    final=self.training.final_adapter(run, plan) if recipients else None,
                    recipients=recipients,
                    stage=None if plan.shared is None else plan_values(plan.shared),
                    pooled=plan.personal is not None and plan.personal.start == "pooled",
                )
            )
        return Boundary(results=self.paths.results, runs=runs)

    def checked(self, experiment: str, row: str) -> dict[str, bool | int | float | str]:
        ran = self.project.rows[experiment, row]
        return run_check(ran.plan, self.experiments[experiment], ran.module, ran.hyperparameters)

    def printed_studies(self, experiment: str) -> dict[str, object]:
        """Return the studies of an experiment as printed: without paths of this machine."""
        return self.experiments[experiment].studies.model_dump(mode="json", exclude={"human_2afc": {"responses"}})

    def record_settings_settings(self, key: Key) -> dict[str, Any]:
        """Return every value that an experiment runs with, protocol and budget applied; no path of this machine."""
        experiment, name = self.project.experiment(key), key.experiment
        rows = {row: self.project.rows[name, row] for row in experiment.methods}
        unprinted = {"methods", "studies", *(() if experiment.tuned else ("tuned",))}
        printed = experiment.model_dump(mode="json", exclude=unprinted)
        return {
            "experiment": printed | {"studies": self.printed_studies(name)},
            "words": self.project.words(key),
            "methods": {
                row: {
                    "hyperparameters": ran.hyperparameters,
                    "generation": experiment.row_generation(row).model_dump(include=set(ROW_GENERATION)),
                    "plan": plan_values(ran.plan),
                    "run_check": self.checked(name, row),
                }
                for row, ran in rows.items()
            },
        }


def run_check(
    plan: Plan, experiment: Experiment, module: str, hyperparameters: Mapping[str, object]
) -> dict[str, bool | int | float | str]:
    """Return the values of one row of the component-ablation configuration check (Table phase1-ablation-run-audit).

    ``shared_aggregation``, ``personal_branch``: whether clients' updates are aggregated, and whether every client keeps
    an adapter of its own. ``private_residual``, ``alignment``, ``proximal``: which components act. Then the weights
    behind them, passes over own text (:func:`passes`), and the protocol with its departures, of the experiment and of
    the method (``module`` and ``hyperparameters``, as ``load_method`` returns them). What does not apply is absent.
    ``federated``, ``trained``, ``raw_history``, ``retrieval`` and ``distilled_artifact`` are those of Table
    prompting_retrieval_baselines.
    """
    shared, personal, prompting = plan.shared, plan.personal, plan.prompting
    quotes = prompting is not None and prompting.passages
    objectives = [stage.objective for stage in (shared, personal) if stage is not None]
    own = method_departures(module, hyperparameters, experiment.protocol)
    protocol = ", ".join([experiment.protocol, *(f"but {key}" for key in (*departures(experiment), *own))])
    values: dict[str, bool | int | float | str] = {
        "shared_aggregation": shared is not None,
        "personal_branch": (personal is not None and personal.start != "pooled")
        or (shared is not None and (not shared.uploads.whole or shared.mixture is not None)),
        "private_residual": personal is not None and personal.residual,
        "alignment": any(objective.alignment > 0 for objective in objectives),
        "proximal": shared is not None and shared.objective.proximal > 0,
        "lambda_align": max((objective.alignment for objective in objectives), default=0.0),
        "protocol": protocol,
        "budget": experiment.budget,
        "federated": shared is not None,
        "trained": shared is not None or personal is not None,
        "raw_history": quotes,
        "retrieval": quotes,
        "distilled_artifact": prompting is not None and prompting.sheet,
    }
    if shared is not None:
        values |= {
            "lambda_shared": shared.objective.proximal,
            "shared_passes": passes(shared),
            "sampling": shared.sampling.replace("_", " "),
            "weighting": shared.weighting,
            "upload_scale": shared.upload_scale,
        }
    if personal is not None:
        values |= {"lambda_personal": personal.objective.proximal, "personal_passes": passes(personal)}
    return values


def passes(stage: SharedStage | PersonalStage) -> int | float | str:
    """Return a stage's passes over a client's own text as they are printed: those of one participation.

    "3 in all" where they are spread over its participations; "5 (1 × 5 inner steps)" where every step is repeated.
    """
    assert stage.epochs is not None  # the plan is complete
    total = "in all" if stage.spread else ""
    inner = stage.inner_steps if isinstance(stage, SharedStage) else 0
    if inner > 1:
        return f"{stage.epochs * inner:g} {total} ({stage.epochs:g} × {inner} inner steps)".replace("  ", " ")
    return f"{stage.epochs:g} {total}" if total else stage.epochs


def _printed_rates(stages: Mapping[str, SharedStage | PersonalStage | None], experiment: Experiment) -> str:
    rates = {name: stage_rate(stage, experiment) for name, stage in stages.items() if stage is not None}
    if len(set(rates.values())) > 1:
        return ", ".join(f"{rate:g} {name}" for name, rate in rates.items())
    return f"{next(iter(rates.values()), experiment.training.learning_rate):g} in every stage"


def recipe(plan: Plan, experiment: Experiment, base_model: str, quantisation: str) -> dict[str, str]:
    """Return what Table efficiency_communication prints of a run's settings; what does not apply is absent.

    ``base_model``: printed name; ``quantisation``: the configuration's word for it.
    """
    training, federation = experiment.training, experiment.federation
    stages: dict[str, SharedStage | PersonalStage | None] = {"shared": plan.shared, "private": plan.personal}
    printed = {name: passes(stage) for name, stage in stages.items() if stage is not None}
    epochs = [f"{value if isinstance(value, str) else f'{value:g}'} {name}" for name, value in printed.items()]
    values = {
        "base_model": base_model,
        "quantisation": {"nf4": "4-bit QLoRA, NF4, bfloat16 compute"}.get(quantisation, quantisation),
        "local_epochs": ", ".join(epochs),
        "batching": f"micro-batch {training.micro_batch}, grad. accumulation {training.accumulation}",
        "learning_rate": _printed_rates(stages, experiment),
    }
    if plan.shared is not None:
        values["clients_per_round"] = f"{federation.clients_per_round} of {experiment.clients}"
    return {name: value for name, value in values.items() if value}
