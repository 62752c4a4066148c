"""Average author: the base model is told to continue as an average author would, knowing nothing of the client."""

from dataclasses import dataclass

from favor.federation.method import Plan, Prompting


@dataclass(frozen=True)
class Hyperparameters:
    """Nothing to set: lengths and counts are the experiment's (``prompting``)."""


def plan(values: Hyperparameters) -> Plan:
    """The same words for every client."""
    return Plan("prompted", prompting=Prompting())
