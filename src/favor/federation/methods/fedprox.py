"""FedProx: FedAvg with a proximal term that keeps local adapters near the shared one (Li et al. 2020).

Local loss: task + lambda_prox * ||A - A_t||^2, the form of Eq. shared_objective. The released code's
(mu/2) ||A - A_t||^2 with mu = 0.001 is the same loss with lambda_prox = 0.0005.

``learning_rate`` is that of the clients' local steps.
"""

from dataclasses import dataclass

from favor.federation.hyperparameters import Proximal, Sampled
from favor.federation.method import Objective, Plan, SharedStage


@dataclass(frozen=True)
class Hyperparameters(Sampled, Proximal):
    """Local passes a round, the proximal coefficient, and how clients are sampled."""


RELEASED = {"sampling": "uniform"}


def plan(values: Hyperparameters) -> Plan:
    """Task loss with the proximal term; every client generates with the final shared adapter."""
    objective = Objective(proximal=values.lambda_prox)
    return Plan("server", shared=SharedStage(objective, values.epochs, sampling=values.sampling))
