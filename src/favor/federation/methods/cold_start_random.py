"""Control of the cold start: the residual is trained on a random adapter as large as the federated one.

``personal_learning_rate`` is that of its one stage.
"""

from favor.federation.hyperparameters import LocalPasses
from favor.federation.method import Objective, PersonalStage, Plan

Hyperparameters = LocalPasses


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the random adapter plus its residual."""
    residual = PersonalStage("random", Objective(), values.epochs, residual=True)
    return Plan("personal", personal=residual)
