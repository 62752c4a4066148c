"""Retrieval only: the client's own training texts nearest to the prompt stand before it."""

from dataclasses import dataclass

from favor.federation.method import Plan, Prompting


@dataclass(frozen=True)
class Hyperparameters:
    """Nothing to set: lengths and counts are the experiment's (``prompting``)."""


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt quotes its own training texts."""
    return Plan("prompted", prompting=Prompting(passages=True))
