"""A row of an experiment's ``methods`` as a plan: its keys checked, and what the experiment decides filled in."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from favor.federation.method import PersonalStage, Plan, SharedStage, needs_shared
from favor.federation.method_names import PAPER, Method
from favor.federation.privacy import Privacy
from favor.foundation.errors import UserError
from favor.foundation.names import nearest, number_hint
from favor.foundation.registry import METHODS, row_method
from favor.foundation.section import one_line

if TYPE_CHECKING:
    from favor.config.experiments import Experiment

RATES = {"learning_rate": "shared", "personal_learning_rate": "personal"}  # keys of a row, by the stage that they set
ROW_KEYS = ("method", "title", "generation", *RATES)  # keys of a row that are not hyper-parameters of its method


def load_method(row: str, overrides: Mapping[str, Any], experiment: Experiment) -> tuple[str, Plan, dict[str, Any]]:
    """Return (module name, plan, resolved hyper-parameters) of a row of ``methods`` in a resolved experiment.

    ``overrides`` may name another method file under "method" and set its hyper-parameters. The experiment's protocol,
    budget and federation settings complete the plan (:func:`complete`). Raises ``UserError`` for an
    unknown hyper-parameter or one of the wrong type, naming the nearest valid one.
    """
    name = row_method(row, overrides)
    module = METHODS.load(name)
    declared = declared_method(name)
    try:
        fields = typing.get_type_hints(module.Hyperparameters)
    except (AttributeError, NameError) as error:
        raise UserError(f"method file '{name}.py' cannot be used ({error}); fix it (docs/extending.md)") from None
    released = experiment.protocol == "released" and hasattr(module, "RELEASED")
    values = dict(module.RELEASED) if released else {}
    for key, value in overrides.items():
        if key in ROW_KEYS:
            continue
        if key not in fields:
            unknown = f"unknown config key 'methods.{row}.{key}'; {nearest(key, [*fields, *ROW_KEYS])}"
            raise UserError(one_line(unknown))
        values[key] = _converted(row, key, value, fields[key])
    hyperparameters = module.Hyperparameters(**values)
    try:
        own = dataclasses.replace(
            module.plan(hyperparameters), display=declared.title, collaborative=declared.federates
        )
        plan = complete(_with_rates(own, row, overrides), experiment)
        overruled = _passes(own) != _passes(plan) and [
            key for key in overrides if key.endswith("epochs") and key != "shared_epochs"
        ]
        if experiment.budget == "matched" and overruled:
            raise ValueError(f"'budget: matched' sets the passes; remove '{overruled[0]}' or set budget: released")
        for stage in (plan.shared, plan.personal):
            if stage is not None and not (stage.epochs is not None and stage.epochs > 0):
                raise ValueError("a stage needs more than 0 epochs")
    except ValueError as error:
        raise UserError(f"config key 'methods.{row}': {error}") from None
    return module.__name__, plan, dataclasses.asdict(hyperparameters)


def stage_rate(stage: SharedStage | PersonalStage, experiment: Experiment) -> float:
    """Return the peak learning rate of a stage: its own, or that of all."""
    return experiment.training.learning_rate if stage.learning_rate is None else stage.learning_rate


def rate_caution(experiment: Experiment, plans: Mapping[str, Plan]) -> str:
    """Return what to say where all rows train at one rate that was not tuned; "" elsewhere."""
    stages = [stage for plan in plans.values() for stage in (plan.shared, plan.personal) if stage is not None]
    rows = sum(plan.shared is not None or plan.personal is not None for plan in plans.values())
    if experiment.tuned is not None or rows < 2 or len({stage_rate(stage, experiment) for stage in stages}) > 1:
        return ""
    return "All rows train at one learning rate that was not tuned: another rate may rank them otherwise (favor tune)."


def _with_rates(plan: Plan, row: str, overrides: Mapping[str, Any]) -> Plan:
    """Return a plan at the learning rates that a row sets. Raises ``UserError`` for a stage that the plan has not."""
    for key, name in RATES.items():
        rate = _converted(row, key, overrides.get(key), float | None)
        if rate is None:
            continue
        where = f"config key 'methods.{row}.{key}'"
        if not 0 < rate <= 1:
            raise UserError(f"{where}: {rate:g} is out of range; it must be more than 0 and at most 1")
        stage = getattr(plan, name)
        if stage is None:
            others = [other for other, kind in RATES.items() if getattr(plan, kind) is not None]
            remedy = f"set '{others[0]}' instead" if others else "it trains nothing; remove the key"
            raise UserError(f"{where}: the row has no {name} stage; {remedy}")
        plan = dataclasses.replace(plan, **{name: dataclasses.replace(stage, learning_rate=rate)})
    return plan


def declared_method(name: str) -> Method:
    """Return the names of a method: the paper's, or those its file declares. Raises ``UserError`` for neither."""
    declared = PAPER.get(name) or getattr(METHODS.load(name), "METHOD", None)
    if not isinstance(declared, Method):
        raise UserError(f"method file '{name}.py' declares no METHOD = Method(...); add it (docs/extending.md)")
    return declared


def method_departures(module: str, hyperparameters: Mapping[str, Any], protocol: str) -> list[str]:
    """Return the hyper-parameters that differ between the protocols and have another value than this one's."""
    loaded = METHODS.load(module.rsplit(".", 1)[1])
    released: Mapping[str, Any] = getattr(loaded, "RELEASED", {})
    paper = dataclasses.asdict(loaded.Hyperparameters())
    expected = {key: released[key] if protocol == "released" else paper[key] for key in released}
    return [key for key, value in expected.items() if hyperparameters[key] != value]


def _passes(plan: Plan) -> list[float | None]:
    return [stage.epochs for stage in (plan.shared, plan.personal) if stage is not None]


def _check_attacked(shared: SharedStage | None, kind: str) -> None:
    """Refuse an attack on what is not uploaded. Raises ``ValueError``."""
    if shared is None:
        raise ValueError("uploads nothing that 'federation.attack' changes; move it to an experiment without")
    if shared.content != "delta":
        raise ValueError(f"uploads its {shared.content}, no update that 'federation.attack' changes; leave it out")
    if kind == "hijack" and shared.objective.alignment:
        raise ValueError("its shared stage aligns with a client's own style, which a hijack has not; leave it out")


def _check_ranks(plan: Plan) -> None:
    """Refuse ranks per client where adapters of one rank are needed. Raises ``ValueError``."""
    if plan.shared is not None and plan.shared.serving.start is not None:
        what = plan.shared.server_name
    elif plan.generates.mixture is not None:
        what = "its mixture of two adapters"
    elif plan.personal is not None and plan.personal.start in ("frozen", "random"):
        what = "its start at another experiment's adapter"
    else:
        return
    raise ValueError(f"{what} needs adapters of one rank; set 'federation.ranks: null', or move it elsewhere")


def complete(plan: Plan, experiment: Experiment) -> Plan:
    """Return ``plan`` with what the experiment decides: the server's weights, unsampled clients, passes, the budget.

    ``budget: matched`` gives every client the same passes over its own text behind the adapter it generates with,
    ``matched_epochs`` E: the shared and private passes together where a private stage starts from shared ones (FAVoR,
    fine-tuning), E over all participations where a client carries something over, E where training is local. Methods
    without anything personal, and the pooled reference, keep theirs. Raises ``ValueError`` where E leaves nothing to
    train.
    """
    if needs_shared(plan) and experiment.cold_start is None:
        raise ValueError("begins with another experiment's shared adapter; name it in 'cold_start'")
    federation = experiment.federation
    shared, personal = plan.shared, plan.personal
    if federation.attack is not None:
        _check_attacked(shared, federation.attack.kind)
    ranks = None if federation.ranks is None else tuple(federation.ranks)
    if ranks is not None:
        _check_ranks(plan)
    if shared is not None:
        members = shared.server.kind == "members"
        if not shared.serving.steps and shared.server.rate * federation.server_learning_rate != 1:
            raise ValueError(
                "its server keeps a mean and takes no steps; it needs 'federation.server_learning_rate: 1'"
            )
        if federation.robust is not None and shared.serving.each:
            raise ValueError(
                f"{shared.server_name} needs every upload, which 'federation.robust' combines into one; leave one of "
                "them out"
            )
        if shared.state is not None and not hasattr(METHODS.load(shared.state.module.rsplit(".", 1)[1]), "STATE"):
            raise ValueError(f"its state is that of {shared.state.module}, which assigns no STATE; add it")
        asked = federation.privacy
        private = None
        if asked is not None:
            private = Privacy(asked.clip, asked.noise_multiplier, federation.clients_per_round)
        shared = dataclasses.replace(
            shared,
            weighting="uniform" if members or shared.state else federation.weighting,
            state=shared.state and dataclasses.replace(shared.state, clients=experiment.clients),
            privacy=private,
            aggregation=federation.aggregation,
            upload_bits=federation.upload_bits,
            ranks=ranks,
        )
    if personal is not None and personal.start != "pooled":
        personal = dataclasses.replace(personal, ranks=ranks)
    # A row that sets the rate that all have shares its rounds with those that do not.
    if shared is not None and shared.learning_rate == experiment.training.learning_rate:
        shared = dataclasses.replace(shared, learning_rate=None)
    if personal is not None and personal.learning_rate == experiment.training.learning_rate:
        personal = dataclasses.replace(personal, learning_rate=None)
    if personal is not None and personal.epochs is None:
        personal = dataclasses.replace(personal, epochs=federation.participations(experiment.clients))
    if experiment.budget == "matched":
        total = float(experiment.matched_epochs)
        if plan.inference == "endpoint" and shared is not None:
            # An inner step is a step on the same pieces, so K of them are K passes.
            shared = dataclasses.replace(shared, epochs=total / max(1, shared.inner_steps), spread=shared.carries)
        elif personal is not None and personal.start in ("endpoint", "final"):
            assert shared is not None
            if total <= shared.epochs:
                raise ValueError(
                    f"matched_epochs {total:g} leaves nothing after {shared.epochs:g} shared epochs; raise it"
                )
            personal = dataclasses.replace(personal, epochs=total - shared.epochs)
        elif personal is not None and personal.start in ("own", "initial", "frozen", "random"):
            personal = dataclasses.replace(personal, epochs=total, spread=personal.start == "own")
    dropped = personal is not None and personal.residual and federation.never_sampled == "dropped"
    return dataclasses.replace(
        plan, shared=shared, personal=personal, never_sampled="dropped" if dropped else plan.never_sampled
    )


def _converted(row: str, key: str, value: Any, hint: Any) -> Any:
    """Return ``value`` as the hyper-parameter's type. Raises ``UserError`` where it is of another type or choice."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        if value in options and isinstance(value, str):
            return value
        raise UserError(f"config key 'methods.{row}.{key}': {value!r} is not possible; {nearest(str(value), options)}")
    if type(None) in options and value is None:
        return None
    kind = next((option for option in options if option is not type(None)), hint)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    hint = number_hint(value) if kind in (int, float) else ""
    raise UserError(f"config key 'methods.{row}.{key}': expected {kind.__name__}, found {value!r}{hint}")


def row_title(row: str, overrides: Mapping[str, Any], plan: Plan) -> str:
    """Return the printed name of a row: its own title, or the method's name (with the row's where they differ)."""
    if "title" in overrides:
        return str(overrides["title"])
    return plan.display if row_method(row, overrides) == row else f"{plan.display} ({row})"
