"""What takes the place of the weighted mean of a round's uploads, so that a few that lie decide less.

A rule is a file of :mod:`favor.federation.robust` that declares ``RULE``: one of the two kinds below, with its formula
and source. A rule that needs a number of uploads to withstand f attackers declares ``FEWEST = (a, b)`` for a f + b.
Every upload counts once, whatever a client says that it holds: an attacker would say much.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist, squareform

from favor.federation.client_archive import State
from favor.federation.settings import Robust
from favor.foundation.lazy import LazyMapping


@dataclass(frozen=True)
class ByNumber:
    """Every number of the adapter by itself. ``combine``: values [clients, ...] and f -> [...], in float64."""

    formula: str
    source: str
    combine: Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class ByUpload:
    """Whole uploads, each with a coefficient: sum_i c_i Delta_i.

    ``coefficients``: (L2 norms [clients], squared distances [clients, clients], the rule's settings) -> c [clients].
    Clients are in name order, which decides between uploads that are equally good.
    """

    formula: str
    source: str
    coefficients: Callable[[np.ndarray, np.ndarray, Robust], np.ndarray]


def combined(deltas: Mapping[str, State], rule: ByNumber | ByUpload, settings: Robust) -> State:
    """Return what ``rule`` makes of uploads by client, in float64. Tensors are read when they are asked for."""
    clients = sorted(deltas)

    def stacked(key: str) -> np.ndarray:
        return np.stack([deltas[client][key].astype(np.float64) for client in clients])

    keys = sorted(deltas[clients[0]])
    if isinstance(rule, ByNumber):
        combine = rule.combine
        return LazyMapping(keys, lambda key: combine(stacked(key), settings.attackers))
    squares, apart = np.zeros(len(clients)), np.zeros((len(clients), len(clients)))
    for key in keys:
        rows = stacked(key).reshape(len(clients), -1)
        squares += (rows**2).sum(axis=1)
        apart += squareform(pdist(rows, "sqeuclidean"))
    shares = rule.coefficients(np.sqrt(squares), apart, settings)
    return LazyMapping(keys, lambda key: np.tensordot(shares, stacked(key), axes=1))


def nearest_first(distances: np.ndarray, settings: Robust) -> np.ndarray:
    """Return the places of uploads by Krum's score: the sum of squared distances to the n - f - 2 nearest others.

    ``distances`` [n, n]: squared.
    """
    near = len(distances) - settings.attackers - 2
    others = np.sort(distances + np.diag(np.full(len(distances), np.inf)), axis=1)
    return np.argsort(others[:, :near].sum(axis=1), kind="stable")
