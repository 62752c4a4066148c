"""Author sheet only: a distilled sheet and a persona made from it, and none of the client's texts."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan, Prompting

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt holds its sheet and its persona."""
    return Plan("prompted", prompting=Prompting(sheet=True, persona=True))
