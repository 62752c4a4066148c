"""Local-only + ASCE: local training with the style-alignment loss (non-collaborative reference).

``personal_learning_rate`` is that of its one stage.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Aligned, LocalPasses
from favor.federation.method import Objective, PersonalStage, Plan


@dataclass(frozen=True)
class Hyperparameters(LocalPasses, Aligned):
    """Passes over the client's text and the weight of the alignment loss."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own adapter."""
    personal = PersonalStage("initial", Objective(alignment=values.lambda_align), values.epochs)
    return Plan("personal", personal=personal)
