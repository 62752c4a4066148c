"""Global ASCE: FedAvg whose shared stage carries the style-alignment loss; no private residual, no proximal term.

``learning_rate`` is that of the clients' local steps.
"""

from dataclasses import dataclass

from favor.federation.coefficients import Aligned
from favor.federation.method import Objective, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(Aligned):
    """Local passes a round and the weight of the alignment loss."""

    epochs: int = 1


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    shared = SharedStage(Objective(alignment=values.lambda_align), values.epochs)
    return Plan("server", shared=shared)
