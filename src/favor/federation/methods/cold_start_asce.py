"""FAVoR's cold start: a private residual on a frozen federated shared adapter, aligned with the client's own style.

``personal_learning_rate`` is that of its one stage.
"""

from favor.federation.hyperparameters import AlignedLocalPasses
from favor.federation.method import Objective, PersonalStage, Plan

Hyperparameters = AlignedLocalPasses


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the shared adapter plus its residual."""
    residual = PersonalStage("frozen", Objective(alignment=values.lambda_align), values.epochs, residual=True)
    return Plan("personal", personal=residual)
