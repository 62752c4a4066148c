"""What a federated method is: plain values that say what is trained where, what is uploaded and what generates.

A method file declares one frozen dataclass of hyper-parameters, ``Hyperparameters``, and one function ``plan`` that
turns them into a :class:`Plan`. How a plan is executed (one client at a time, or a cohort stacked) is the engine's
business (:mod:`favor.lm.training`); which jobs it takes is the workflow's. This module imports no numerical library,
because the workflow reads it whenever it is parsed.

Adapter names follow the paper: A_t is the server's shared adapter at the start of round t (section 3.3).
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from favor.foundation.errors import UserError
from favor.foundation.names import nearest

Sampling = Literal["coverage_first", "uniform"]
ROW_KEYS = ("method", "title")  # keys of a row that are no hyper-parameters: its method file, its printed name


@dataclass(frozen=True)
class Objective:
    """Terms a local stage adds to the task loss (Eq. task_loss).

    ``proximal`` multiplies ||A - A_t||^2, the sum of squared Frobenius norms over the LoRA factor tensors, with A_t
    the server's adapter at the start of the round (Eq. shared_objective; no factor 1/2). ``alignment`` is lambda_align
    of Eq. private_objective.
    """

    proximal: float = 0.0
    alignment: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.proximal < math.inf or not 0 <= self.alignment < math.inf:
            raise ValueError("the weights of its loss terms must be finite and not negative")


@dataclass(frozen=True)
class SharedStage:
    """The stage whose result is uploaded: every sampled client starts from A_t.

    The upload is ``upload_scale`` times (local endpoint - A_t); 1 is Eq. shared_delta.
    """

    objective: Objective = field(default_factory=Objective)
    epochs: int = 1
    upload_scale: float = 1.0
    sampling: Sampling = "coverage_first"
    weighting: Literal["uniform", "words"] = "uniform"

    @property
    def track(self) -> str:
        """Folder name of the federated trajectory this stage produces.

        Methods whose shared stages are equal (FedAvg and Ditto, FedProx and FAVoR) share one trajectory, which is
        trained once.
        """
        values = json.dumps(dataclasses.asdict(self), sort_keys=True)
        terms = [name for name, weight in dataclasses.asdict(self.objective).items() if weight]
        return "-".join(["task", *terms, hashlib.sha256(values.encode()).hexdigest()[:6]])


@dataclass(frozen=True)
class PersonalStage:
    """A stage whose result never leaves the client.

    ``start``: "endpoint" restarts from the client's shared endpoint of its last participation (FAVoR); "own" carries
    the client's personal adapter over, beginning at A_t of its first participation (Ditto); "initial" starts every
    client at the initial adapter, outside any federation (local-only); "pooled" trains one adapter on all clients'
    texts together, the centralised reference.
    ``residual`` stores the result as a residual relative to the endpoint (Eq. residual_pack).
    """

    start: Literal["endpoint", "own", "initial", "pooled"]
    objective: Objective = field(default_factory=Objective)
    epochs: float = 1
    residual: bool = False

    @property
    def chained(self) -> bool:
        """Whether a client's participations build on one another, so that each of them must be computed."""
        return self.start == "own"


@dataclass(frozen=True)
class Plan:
    """One method: its shared stage, its personal stage, and the adapter each client generates with.

    ``inference``: "server", the final shared adapter; "endpoint", the client's own shared endpoint of its last
    participation; "personal", the result of the personal stage; "base", no adapter. A client that was never sampled
    generates with the final shared adapter.
    """

    display: str
    inference: Literal["server", "endpoint", "personal", "base"]
    shared: SharedStage | None = None
    personal: PersonalStage | None = None
    collaborative: bool = True

    def __post_init__(self) -> None:
        if self.inference == "personal" and self.personal is None:
            raise ValueError(f"{self.display}: generates with a personal adapter but has no personal stage")
        if self.inference in ("server", "endpoint") and self.shared is None:
            raise ValueError(f"{self.display}: generates with a shared adapter but has no shared stage")


def load_method(row: str, overrides: Mapping[str, Any], protocol: str) -> tuple[str, Plan, dict[str, Any]]:
    """Return (module name, plan, resolved hyper-parameters) of a row of ``methods`` in the configuration.

    ``overrides`` may name another method file under "method" and set its hyper-parameters. Raises ``UserError`` for an
    unknown hyper-parameter or one of the wrong type, naming the nearest valid one.
    """
    name = str(overrides.get("method", row))
    module_name = f"favor.federation.methods.{name}"
    try:
        module = importlib.import_module(module_name)
        fields = {item.name: item for item in dataclasses.fields(module.Hyperparameters)}
    except (ImportError, SyntaxError, AttributeError) as error:
        raise UserError(f"method file '{name}.py' cannot be used ({error}); mend it (docs/extending.md)") from None
    values = dict(module.RELEASED) if protocol == "released" and hasattr(module, "RELEASED") else {}
    for key, value in overrides.items():
        if key in ROW_KEYS:
            continue
        if key not in fields:
            raise UserError(f"unknown config key 'methods.{row}.{key}'; {nearest(key, [*fields, *ROW_KEYS])}")
        values[key] = _converted(row, key, value, fields[key].type)
    hyperparameters = module.Hyperparameters(**values)
    try:
        plan = module.plan(hyperparameters)
        if any(stage is not None and not stage.epochs >= 1 for stage in (plan.shared, plan.personal)):
            raise ValueError("a stage needs at least one epoch")
    except ValueError as error:
        raise UserError(f"config key 'methods.{row}': {error}") from None
    if protocol == "released" and plan.shared is not None:
        # The released server weights uploads by the clients' allocated words.
        plan = dataclasses.replace(plan, shared=dataclasses.replace(plan.shared, weighting="words"))
    return module_name, plan, dataclasses.asdict(hyperparameters)


def _converted(row: str, key: str, value: Any, annotation: Any) -> Any:
    kind = annotation if isinstance(annotation, str) else annotation.__name__
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "float" and number:
        return float(value)
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "bool" and isinstance(value, bool):
        return value
    if (kind == "str" or kind.startswith("Literal") or kind == "Sampling") and isinstance(value, str):
        return value
    raise UserError(f"config key 'methods.{row}.{key}': expected {kind}, found {value!r}")


def row_title(row: str, overrides: Mapping[str, Any], plan: Plan) -> str:
    """Return the printed name of a row: its own title, or the method's name (with the row's where they differ)."""
    if "title" in overrides:
        return str(overrides["title"])
    return plan.display if overrides.get("method", row) == row else f"{plan.display} ({row})"


def plan_values(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain values, for rule parameters and run records."""
    return dataclasses.asdict(plan)
