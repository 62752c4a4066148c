"""Author sheet and retrieval: a distilled sheet, a persona made from it, and the client's nearest training texts."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan, Prompting

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt holds its sheet, its persona and its own training texts."""
    return Plan("prompted", prompting=Prompting(passages=True, sheet=True, persona=True))
