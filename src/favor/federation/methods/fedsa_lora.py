"""FedSA-LoRA: both factors train, A is averaged and B never leaves the client (Guo et al., ICLR 2025).

A client starts a participation from A_t and its own last B_i (zero at the first), and uploads A_i - A_t alone. Its
adapter is B_i A: with ``global_half: final`` A is A_T, which everybody is sent in the end, as in the paper; with
"last_round" it is the A_i that B_i was trained beside.

``learning_rate`` trains both factors: they are one stage, so ``personal_learning_rate`` is refused.
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.factors import Factors
from favor.federation.method import Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters:
    """Local passes a round, the factor that is uploaded, and the shared half that generates."""

    epochs: int = 1
    uploads: Literal["A", "B"] = "A"
    global_half: Literal["last_round", "final"] = "final"


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own factor and the shared one."""
    shared = SharedStage(epochs=values.epochs, uploads=Factors(values.uploads))
    return Plan("endpoint", shared=shared, global_half=values.global_half)
