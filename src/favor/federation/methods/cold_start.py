"""FAVoR's cold start without ASCE: a new client trains a private residual on a frozen federated shared adapter.

The shared adapter comes from an experiment that the client took no part in (``cold_start`` of the configuration).

``personal_learning_rate`` is that of its one stage.
"""

from favor.federation.hyperparameters import LocalPasses
from favor.federation.method import Objective, PersonalStage, Plan

Hyperparameters = LocalPasses


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the shared adapter plus its residual."""
    residual = PersonalStage("frozen", Objective(), values.epochs, residual=True)
    return Plan("personal", personal=residual)
