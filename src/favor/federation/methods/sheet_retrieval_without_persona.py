"""Author sheet and retrieval without persona."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan, Prompting

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt holds its sheet and its own training texts."""
    return Plan("prompted", prompting=Prompting(passages=True, sheet=True))
