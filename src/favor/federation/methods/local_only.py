"""Local-only: each client trains its own adapter from the initial one, with no federation (reference).

``personal_learning_rate`` is that of its one stage.
"""

from favor.federation.hyperparameters import LocalPasses
from favor.federation.method import Objective, PersonalStage, Plan

Hyperparameters = LocalPasses


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own adapter."""
    return Plan("personal", personal=PersonalStage("initial", Objective(), values.epochs))
