"""FedEx-LoRA: the mean of the factors, and what it misses of the mean product in the base (Singhal et al., ACL 2025).

A = sum_i omega_i A_i, B = sum_i omega_i B_i and W <- W + sum_i omega_i B_i A_i - B A, with the adapter's scaling: every
client's model is then the exact mean of the clients' models, where FedAvg's is B A alone. The residuals of all rounds
are sent with the shared adapter, as factors (:mod:`favor.federation.fedex_residual`).

``learning_rate`` is that of the clients' local steps.
"""

from favor.federation.hyperparameters import Passes
from favor.federation.method import Plan, SharedStage
from favor.federation.server_rule import ServerRule

Hyperparameters = Passes


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter and all residuals."""
    return Plan("server", shared=SharedStage(epochs=values.epochs, server=ServerRule("exact")))
