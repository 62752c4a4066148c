"""Ditto: a FedAvg track beside a persistent personal adapter tied to the shared one (Li et al. 2021).

The shared copy u_i starts from A_t, has no penalty and is uploaded. The personal adapter v_i persists on the client,
is trained when the client is sampled with task + lambda * ||v_i - A_t||^2, anchored at the round-start shared adapter,
and is never uploaded.

``learning_rate`` trains u_i, ``personal_learning_rate`` v_i.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Tied, TwoStages
from favor.federation.method import Objective, PersonalStage, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(TwoStages, Tied):
    """Local passes of both stages, and the coefficient that ties v_i to the shared adapter."""


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its v_i."""
    personal = PersonalStage("own", Objective(proximal=values.lambda_ditto), values.personal_epochs)
    return Plan("personal", shared=SharedStage(epochs=values.shared_epochs), personal=personal)
