"""Average author: the base model is told to continue as an average author would, knowing nothing of the client."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan, Prompting

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """The same words for every client."""
    return Plan("prompted", prompting=Prompting())
