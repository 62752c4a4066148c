"""What a run resolved to, as the few values by which a reader checks it."""

from collections.abc import Mapping

from favor.config.experiments import Experiment
from favor.config.protocol import departures
from favor.federation.method import PersonalStage, Plan, SharedStage, method_departures


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
    if personal is not None and personal.epochs is not None:
        values |= {
            "lambda_personal": personal.objective.proximal,
            "personal_passes": passes(personal),
        }
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


def recipe(plan: Plan, experiment: Experiment, base_model: str, quantisation: str) -> dict[str, str]:
    """Return what Table efficiency_communication prints of a run's settings; what does not apply is absent.

    ``base_model``: printed name; ``quantisation``: the configuration's word for it.
    """
    training, federation = experiment.training, experiment.federation
    stages = {"shared": plan.shared, "private": plan.personal}
    printed = {name: passes(stage) for name, stage in stages.items() if stage is not None and stage.epochs}
    epochs = [f"{value if isinstance(value, str) else f'{value:g}'} {name}" for name, value in printed.items()]
    values = {
        "base_model": base_model,
        "quantisation": {"nf4": "4-bit QLoRA, NF4, bfloat16 compute"}.get(quantisation, quantisation),
        "local_epochs": ", ".join(epochs),
        "batching": f"micro-batch {training.micro_batch}, grad. accumulation {training.accumulation}",
        "learning_rate": f"{training.learning_rate:g} in every stage",
    }
    if plan.shared is not None:
        values["clients_per_round"] = f"{federation.clients_per_round} of {experiment.clients}"
    return {name: value for name, value in values.items() if value}
