"""SCAFFOLD-LoRA: every local step is corrected by control variates, against drift (Karimireddy et al., ICML 2020).

Of Algorithm 1: a step follows g_i(y) - c_i + c; the server takes A <- A + eta_g mean_i (y_i - A) and
c <- c + |S|/N mean_i (c_i' - c_i), over the round's clients S of N. The paper's option II, under K plain gradient steps
at rate eta, is c_i' = c_i - c + (A - y_i) / (K eta): the mean of the gradients g_i along the way. Here c_i' is that
mean, each step's gradient weighted by its learning rate. With plain gradient steps it equals option II at any schedule;
under AdamW, where a difference of adapters is not a sum of gradients, it keeps option II's meaning.

Our adaptation: A and B of LoRA have a variate each; AdamW sees the corrected gradient; clipping sees the client's own.

``learning_rate`` is eta of the local steps; a variate is a mean gradient and does not change with it.
"""

from favor.federation.hyperparameters import Passes
from favor.federation.method import Plan, SharedStage
from favor.federation.method_names import Method
from favor.federation.state_rule import StateEquations, StateRule

METHOD = Method("SCAFFOLD-LoRA")
STATE = StateEquations(
    correction=lambda c, own: c - own,
    own=lambda _c, _own, gradient: gradient,
    server=lambda c, change, clients: c + change / clients,
)

Hyperparameters = Passes


def plan(values: Hyperparameters) -> Plan:
    """Every client generates with the final shared adapter."""
    return Plan("server", shared=SharedStage(epochs=values.epochs, state=StateRule(__name__)))
