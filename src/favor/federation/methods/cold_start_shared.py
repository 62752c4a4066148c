"""Control of the cold start: the federated shared adapter as it is, without any adaptation."""

from favor.federation.hyperparameters import Nothing
from favor.federation.method import Plan

Hyperparameters = Nothing


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the shared adapter of the federation it took no part in."""
    return Plan("given")
