"""FedRoD on LoRA: a private adapter is added to the shared one, which stays fixed meanwhile.

FedRoD (Chen and Chao, ICLR 2022) adds a personal head's logits to a generic model's and trains the personal part on the
sum. PF2LoRA (Hao et al. 2025) has the same form in LoRA, dW_i = B A + D_i C_i; this is its first-order version, at one
rank. B A is FedAvg's A_t at the start of the round. (C_i, D_i) begins at the initial adapter, whose product is zero,
stays on the client, and is trained at each of its participations with the task loss of the sum. The client uploads what
FedAvg's client does.

``learning_rate`` trains B A, ``personal_learning_rate`` (C_i, D_i).
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.hyperparameters import TwoStages
from favor.federation.method import Mixture, Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(TwoStages):
    """Passes of both stages, and the shared half of the sum that generates (A_t of the last participation, or A_T)."""

    global_half: Literal["last_round", "final"] = "last_round"


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the sum of both adapters."""
    private = PersonalStage("own", Objective(), values.personal_epochs, mixture=Mixture("sum"), begin="initial")
    shared = SharedStage(epochs=values.shared_epochs)
    return Plan("personal", shared=shared, personal=private, global_half=values.global_half)
