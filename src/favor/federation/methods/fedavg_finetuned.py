"""FedAvg, then fine-tuning: when the federation is over, every client trains the final shared adapter on its own text.

v_i = argmin task loss, from A_T by ``personal_epochs`` passes (Yu et al. 2020; Cheng et al. 2021: the baseline that
personalised methods are to beat). Nothing of it is uploaded. A client that was never sampled is fine-tuned too.

``learning_rate`` is that of the federation, ``personal_learning_rate`` that of the fine-tuning.
"""

from dataclasses import dataclass

from favor.federation.method import Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters:
    """Passes of both stages; FAVoR's private stage has as many."""

    shared_epochs: int = 1
    personal_epochs: int = 2


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its fine-tuned adapter."""
    personal = PersonalStage("final", Objective(), values.personal_epochs)
    return Plan("personal", shared=SharedStage(epochs=values.shared_epochs), personal=personal)
