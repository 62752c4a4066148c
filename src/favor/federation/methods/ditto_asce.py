"""Ditto + ASCE: Ditto with the style-alignment loss added to the personal adapter's loss (section 4, ablations).

``learning_rate`` trains u_i, ``personal_learning_rate`` v_i, as in Ditto.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Aligned, Tied, TwoStages
from favor.federation.method import Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(TwoStages, Tied, Aligned):
    """Ditto's hyper-parameters and the weight of the alignment loss."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its v_i."""
    objective = Objective(values.lambda_ditto, values.lambda_align)
    personal = PersonalStage("own", objective, values.personal_epochs)
    return Plan("personal", shared=SharedStage(epochs=values.shared_epochs), personal=personal)
