"""FAVoR w/o ASCE: FAVoR with lambda_align = 0 and everything else equal (component ablation).

``learning_rate`` is that of the shared stage, ``personal_learning_rate`` that of the private residual.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Proximal
from favor.federation.method import Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(Proximal):
    """Passes of both stages and the proximal coefficient."""

    shared_epochs: int = 1
    private_epochs: int = 2


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its reconstructed personal adapter."""
    shared = SharedStage(Objective(proximal=values.lambda_prox), values.shared_epochs)
    private = PersonalStage("endpoint", Objective(), values.private_epochs, residual=True)
    return Plan("personal", shared=shared, personal=private)
