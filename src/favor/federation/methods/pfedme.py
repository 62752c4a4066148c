"""pFedMe: personal adapters as proximal solutions, a server that follows them slowly (Dinh et al. 2020).

theta_i minimises task + lambda * ||theta - w_i||^2 around w_i = A_t; w_i <- w_i - eta * lambda * (w_i - theta_i) is
uploaded, and theta_i generates. Two forms of the same rule:

- "one_epoch" (the release's): one inner solve a participation, ``epochs`` passes, then one outer step.
- "original": ``inner_steps`` (K = 5) inner steps on each effective batch, an outer step after each, R of them a pass.

The paper's form is kept (no 1/2 before lambda), with the eta * lambda = 0.01 of the release in both variants.

In both forms ``learning_rate`` is that of theta's steps, and ``eta`` * ``lambda_pfedme`` that of w: theta is what
the shared stage trains, so ``personal_learning_rate`` is refused although theta generates.
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.method import Objective, Plan, Sampling, SharedStage


@dataclass(frozen=True)
class Hyperparameters:
    """Passes of the inner solve, coefficients, the variant, and where theta starts ("own": its last value)."""

    epochs: int = 1
    lambda_pfedme: float = 0.01
    eta: float = 1.0
    variant: Literal["one_epoch", "original"] = "one_epoch"
    inner_steps: int = 5
    start: Literal["server", "own"] = "server"
    sampling: Sampling = "coverage_first"


RELEASED = {"start": "own"}


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with theta_i of its last participation, not with w_i."""
    if not values.eta * values.lambda_pfedme > 0:
        raise ValueError("'eta' and 'lambda_pfedme' must be above 0: w moves by their product, and 0 uploads nothing")
    if values.variant == "original" and values.inner_steps < 1:
        raise ValueError("'inner_steps' must be at least 1")
    shared = SharedStage(
        Objective(proximal=values.lambda_pfedme),
        values.epochs,
        upload_scale=values.eta * values.lambda_pfedme,
        sampling=values.sampling,
        start=values.start,
        inner_steps=values.inner_steps if values.variant == "original" else 0,
    )
    return Plan("endpoint", shared=shared)
