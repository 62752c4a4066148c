"""Base only: the base model without any adapter (reference)."""

from dataclasses import dataclass

from favor.federation.method import Plan


@dataclass(frozen=True)
class Hyperparameters:
    """Nothing to set."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the base model."""
    return Plan("base")
