"""FedAdam: an adaptive server over FedAvg's clients (Reddi et al., ICLR 2021, Algorithm 2).

Delta_t = sum_i omega_i (A_i - A_t), m_{t+1} = beta1 m_t + (1 - beta1) Delta_t,
v_{t+1} = beta2 v_t + (1 - beta2) Delta_t^2,
A_{t+1} = A_t + eta m_{t+1} / (sqrt(v_{t+1}) + tau), elementwise, with m_0 = 0, v_0 = tau^2 and no bias correction.

``learning_rate`` is that of the clients' local steps, not eta.
"""

from favor.federation.hyperparameters import Adaptive
from favor.federation.method import Plan, SharedStage
from favor.federation.server_rule import ServerRule

Hyperparameters = Adaptive


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    server = ServerRule("adam", values.server_rate, values.beta1, values.beta2, values.tau)
    return Plan("server", shared=SharedStage(epochs=values.epochs, server=server))
