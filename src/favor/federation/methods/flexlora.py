"""FlexLoRA: the server averages the products B_i A_i and cuts the mean to rank r by an SVD (Bai et al., NeurIPS 2024).

(B, A) = SVD_r(sum_i omega_i B_i A_i), with B = U S and A = V^T: the best rank-r factors of the mean update, where
FedAvg's mean(B) mean(A) is another matrix. A client of a lower rank r_i is
sent the first r_i columns of B and rows of A, which are SVD_{r_i} (:mod:`favor.federation.ranks`).

``learning_rate`` is that of the clients' local steps.
"""

from favor.federation.hyperparameters import Passes
from favor.federation.method import Plan, SharedStage
from favor.federation.server_rule import ServerRule

Hyperparameters = Passes


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    return Plan("server", shared=SharedStage(epochs=values.epochs, server=ServerRule("svd")))
