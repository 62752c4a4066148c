"""Pooled PEFT: one adapter trained on all clients' texts together, without federation (centralised reference).

``personal_learning_rate`` is that of its one stage.
"""

from dataclasses import dataclass

from favor.federation.method import Objective, PersonalStage, Plan


@dataclass(frozen=True)
class Hyperparameters:
    """Passes over all texts; None takes the exposure of the federated schedule, R * C / N (1.44 on BlogText)."""

    epochs: float | None = None


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the one adapter."""
    return Plan("personal", personal=PersonalStage("pooled", Objective(), values.epochs))
