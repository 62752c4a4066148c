"""FAVoR: a shared adapter that is aggregated, and a private residual that is not (section 3, Algorithm favor_full).

Shared stage: task + lambda_prox * ||A - A_t||^2 (Eq. shared_objective); its delta is uploaded. Private stage: starts at
the round's shared endpoint, held fixed, and trains a residual with task + lambda_align * kappa * alignment
(Eq. private_objective). The client generates with endpoint + residual of its last participation (Eq. favor_model).

``learning_rate`` is that of the shared stage, ``personal_learning_rate`` that of the private residual.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Aligned, Proximal
from favor.federation.method import Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(Proximal, Aligned):
    """Passes of both stages, the proximal coefficient and the weight of the alignment loss."""

    shared_epochs: int = 1
    private_epochs: int = 2


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its reconstructed personal adapter."""
    shared = SharedStage(Objective(proximal=values.lambda_prox), values.shared_epochs)
    private = PersonalStage("endpoint", Objective(alignment=values.lambda_align), values.private_epochs, residual=True)
    return Plan("personal", shared=shared, personal=private)
