"""Adapters: PEFT adapters that were trained elsewhere, one folder per client, generate here."""

from dataclasses import dataclass

from favor.federation.method import Plan
from favor.federation.method_names import Method

METHOD = Method("Adapters", federates=False)


@dataclass(frozen=True)
class Hyperparameters:
    """``adapters``: a folder with one folder per client (client_001 onwards) in PEFT's format."""

    adapters: str = ""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the adapter in the folder of its name."""
    return Plan("adapters", source=values.adapters)
