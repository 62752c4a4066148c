"""APFL: a personal adapter and the shared one, mixed by a weight that the client learns (Deng et al. 2020).

The model of client i is a_i v_i + (1 - a_i) w: with LoRA, a_i B_v A_v x + (1 - a_i) B_w A_w x, the same mixture of the
two full models. At every step v_i follows the gradient of the task loss at the mixture, and
a_i <- clip(a_i - eta <B_v A_v - B_w A_w, dL/dW>, 0, 1). v_i begins at A_t of the first participation and stays on the
client, as a_i does. w stays at A_t of the round while v_i trains; in the paper, w moves too. The client uploads
what FedAvg's client does. It is scored on the mixture, as the paper defines it.

``learning_rate`` trains w, ``personal_learning_rate`` v_i; a_i moves by ``weight_rate``.
"""

from dataclasses import dataclass
from typing import Literal

from favor.federation.hyperparameters import TwoStages
from favor.federation.method import Mixture, Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(TwoStages):
    """Passes of both stages, where a_i begins and the rate eta it moves at; the shared half that generates."""

    weight: float = 0.5
    weight_rate: float = 0.1
    global_half: Literal["last_round", "final"] = "last_round"


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its mixture."""
    mixture = Mixture("learned", values.weight, values.weight_rate)
    personal = PersonalStage("own", Objective(), values.personal_epochs, mixture=mixture)
    shared = SharedStage(epochs=values.shared_epochs)
    return Plan("personal", shared=shared, personal=personal, global_half=values.global_half)
