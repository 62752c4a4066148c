"""What a server and its clients keep from round to round beside the adapter: plain values, and a method's equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the workflow reads this module whenever it is parsed
    import numpy as np

STATE = "state/"  # begins the name of a state's tensor, before that of the adapter's tensor it belongs to


@dataclass(frozen=True)
class StateRule:
    """The state of a shared stage: ``STATE`` of a method's ``module``, among ``clients`` in all, sampled or not."""

    module: str
    clients: int = 0


@dataclass(frozen=True)
class StateEquations:
    """What a method file declares as ``STATE``, of each tensor of the adapter; c and every c_i are 0 at first.

    correction: (c, c_i) -> what client i adds to the gradient of each of its steps, before the optimiser.
    own: (c, c_i, g) -> the next c_i, which stays on the client. g: the stage's mean gradient, each step's weighted by
        its learning rate: clipped, and without the correction. The client uploads by how much c_i changed.
    server: (c, sum of these changes over the round's clients, clients in all) -> the next c, sent with the adapter.
    """

    correction: Callable[[np.ndarray, np.ndarray], np.ndarray]
    own: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    server: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
