"""FedALT: every client's own adapter beside the mean of the others', mixed at each token (Bian et al., AAAI 2026).

In every adapted layer h = W x + a(x) B_i A_i x + (1 - a(x)) B_R A_R x with a(x) = sigmoid(u x), the softmax of two
scores. (A_R, B_R) is the mean of the other clients' last factors at the start of the round, held fixed. (A_i, B_i) and
u train together on the task loss and go on, at the client's next participation, from where they ended: no average takes
their place. A client begins at A_0 and u = 0. It uploads (A_i, B_i) itself, all of its personal part but u: the record
of the boundary calls it "personal adapter". It generates with the mean of the others after the last round.

``learning_rate`` trains (A_i, B_i) and u: they are one stage, so ``personal_learning_rate`` is refused.
"""

from favor.federation.hyperparameters import Passes
from favor.federation.method import Mixture, Plan, SharedStage
from favor.federation.server_rule import ServerRule

Hyperparameters = Passes


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with its own adapter and the others' mean, under its own gate."""
    mixture, server = Mixture("token"), ServerRule("members")
    shared = SharedStage(epochs=values.epochs, start="own", begin="initial", server=server, mixture=mixture)
    return Plan("endpoint", shared=shared, global_half="final")
