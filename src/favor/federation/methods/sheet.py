"""Author sheet only: a distilled sheet and a persona made from it, and none of the client's texts."""

from dataclasses import dataclass

from favor.federation.method import Plan, Prompting


@dataclass(frozen=True)
class Hyperparameters:
    """Nothing to set: lengths and counts are the experiment's (``prompting``)."""


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt holds its sheet and its persona."""
    return Plan("prompted", prompting=Prompting(sheet=True, persona=True))
