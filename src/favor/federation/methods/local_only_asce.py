"""Local-only + ASCE: local training with the style-alignment loss (non-collaborative reference).

``personal_learning_rate`` is that of its one stage.
"""

from favor.federation.hyperparameters import AlignedLocalPasses
from favor.federation.method import Objective, PersonalStage, Plan

Hyperparameters = AlignedLocalPasses


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own adapter."""
    personal = PersonalStage("initial", Objective(alignment=values.lambda_align), values.epochs)
    return Plan("personal", personal=personal)
