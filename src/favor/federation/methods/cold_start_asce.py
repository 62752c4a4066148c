"""FAVoR's cold start: a private residual on a frozen federated shared adapter, aligned with the client's own style.

``personal_learning_rate`` is that of its one stage.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Aligned, LocalPasses
from favor.federation.method import Objective, PersonalStage, Plan


@dataclass(frozen=True)
class Hyperparameters(LocalPasses, Aligned):
    """Passes over the client's texts and the weight of the alignment loss."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the shared adapter plus its residual."""
    residual = PersonalStage("frozen", Objective(alignment=values.lambda_align), values.epochs, residual=True)
    return Plan("personal", personal=residual)
