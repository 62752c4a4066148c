"""Global ASCE: FedAvg whose shared stage carries the style-alignment loss; no private residual, no proximal term.

``learning_rate`` is that of the clients' local steps.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Aligned, Passes
from favor.federation.method import Objective, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(Passes, Aligned):
    """Local passes a round and the weight of the alignment loss."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    return Plan("server", shared=SharedStage(Objective(alignment=values.lambda_align), values.epochs))
