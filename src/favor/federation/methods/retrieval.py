"""Retrieval only: the client's own training texts nearest to the prompt stand before it."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan, Prompting

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt quotes its own training texts."""
    return Plan("prompted", prompting=Prompting(passages=True))
