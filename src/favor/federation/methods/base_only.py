"""Base only: the base model without any adapter (reference)."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the base model."""
    return Plan("base")
