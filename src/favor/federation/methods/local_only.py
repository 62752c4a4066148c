"""Local-only: each client trains its own adapter from the initial one, with no federation (reference).

``personal_learning_rate`` is that of its one stage.
"""

from dataclasses import dataclass

from favor.federation.method import Objective, PersonalStage, Plan


@dataclass(frozen=True)
class Hyperparameters:
    """Passes over the client's text."""

    epochs: int = 6


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own adapter."""
    return Plan("personal", personal=PersonalStage("initial", Objective(), values.epochs))
