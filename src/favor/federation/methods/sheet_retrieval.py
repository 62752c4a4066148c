"""Author sheet and retrieval: a distilled sheet, a persona made from it, and the client's nearest training texts."""

from dataclasses import dataclass

from favor.federation.method import Plan, Prompting


@dataclass(frozen=True)
class Hyperparameters:
    """Nothing to set: lengths and counts are the experiment's (``prompting``)."""


def plan(values: Hyperparameters) -> Plan:
    """Every client's prompt holds its sheet, its persona and its own training texts."""
    return Plan(
        "prompted",
        prompting=Prompting(passages=True, sheet=True, persona=True),
    )
