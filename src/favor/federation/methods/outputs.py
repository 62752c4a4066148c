"""Outputs: continuations that were made elsewhere, read from a file and measured like a method's."""

from dataclasses import dataclass

from favor.federation.method import Plan
from favor.federation.method_names import Method

METHOD = Method("Outputs", federates=False)


@dataclass(frozen=True)
class Hyperparameters:
    """``outputs``: a CSV, JSONL or Parquet table of prompt, author, text and, if you like, seed and sample."""

    outputs: str = ""


def plan(values: Hyperparameters) -> Plan:
    """Nothing is trained and nothing generated."""
    return Plan("outputs", source=values.outputs)
