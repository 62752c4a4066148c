"""FedAvgM: FedAvg with momentum on the server (Hsu et al. 2019).

m_{t+1} = beta m_t + sum_i omega_i (A_i - A_t) and A_{t+1} = A_t + eta m_{t+1}, m_0 = 0. beta 0 and eta 1 are FedAvg.

``learning_rate`` is that of the clients' local steps, not eta.
"""

from dataclasses import dataclass

from favor.federation.method import Plan, SharedStage
from favor.federation.server_rule import ServerRule


@dataclass(frozen=True)
class Hyperparameters:
    """Local passes a round, the server's rate (times the experiment's) and its momentum."""

    epochs: int = 1
    server_rate: float = 1.0
    momentum: float = 0.9


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    server = ServerRule("momentum", values.server_rate, values.momentum)
    return Plan("server", shared=SharedStage(epochs=values.epochs, server=server))
