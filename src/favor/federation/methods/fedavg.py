"""FedAvg: clients train a copy of the shared adapter; the server averages their deltas.

A_{t+1} = A_t + eta_g * sum_i omega_i (A_i - A_t) (McMahan et al. 2017; Eqs. shared_delta to shared_adapter_update).

``learning_rate`` is that of the clients' local steps.
"""

from favor.federation.hyperparameters import Sampled
from favor.federation.method import Plan, SharedStage

Hyperparameters = Sampled
RELEASED = {"sampling": "uniform"}


def plan(values: Hyperparameters) -> Plan:
    """Task loss only; every client generates with the final shared adapter."""
    return Plan("server", shared=SharedStage(epochs=values.epochs, sampling=values.sampling))
