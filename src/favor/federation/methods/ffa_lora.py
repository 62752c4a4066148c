"""FFA-LoRA: factor A keeps its initial value, and B alone is trained and averaged (Sun et al., ICLR 2024).

With A = A_0 for everybody, mean_i(B_i) A_0 = mean_i(B_i A_0): the average of the factors is the average of the updates,
which it is not where both factors train. Half the tensors cross the boundary. A_0 is drawn from the seed by everybody.

``learning_rate`` is that of the clients' local steps.
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.factors import Factors
from favor.federation.method import Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters:
    """Local passes a round, and the factors that train: "AB" is FedAvg."""

    epochs: int = 1
    trains: Literal["B", "AB"] = "B"


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    return Plan("server", shared=SharedStage(epochs=values.epochs, trains=Factors(values.trains)))
