"""The server: it holds the shared adapter and averages what clients upload, and sees nothing else of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from favor.federation.packs import State
from favor.foundation.seeds import numpy_generator


def aggregate(
    shared: State, deltas: Mapping[str, State], weights: Mapping[str, float], server_learning_rate: float
) -> dict[str, np.ndarray]:
    """Return A_{t+1} = A_t + eta_g * sum_i omega_i Delta_i (Eqs. shared_aggregation_delta, shared_adapter_update).

    ``deltas`` are the uploads by client; ``weights`` are normalised to sum to one here. The sum runs in float64 over
    clients in name order, so it does not depend on how uploads were packed or ordered.
    """
    if not deltas:
        raise ValueError("no uploads to aggregate")
    total = sum(weights[client] for client in sorted(deltas))
    if not total > 0:
        raise ValueError("the weights of the uploads sum to zero")
    result = {}
    for key in sorted(shared):
        step = np.zeros(shared[key].shape, dtype=np.float64)
        for client in sorted(deltas):
            step += (weights[client] / total) * deltas[client][key].astype(np.float64)
        result[key] = (shared[key].astype(np.float64) + server_learning_rate * step).astype(np.float32)
    return result


def delta(endpoint: State, shared: State, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Return the upload ``scale`` * (endpoint - A_t), factor by factor (Eq. shared_delta)."""
    return {key: (scale * (endpoint[key] - shared[key])).astype(np.float32) for key in sorted(shared)}


def random_like(shared: State, seed: int) -> dict[str, np.ndarray]:
    """Return an adapter of normal draws, every tensor scaled to the Frobenius norm of its counterpart in ``shared``.

    The control of a cold start whose shared initialisation has learned nothing. Streams: (``seed``, tensor).
    """
    made = {}
    for key in sorted(shared):
        draw = numpy_generator(seed, "random shared adapter", key).standard_normal(shared[key].shape)
        scale = np.linalg.norm(shared[key].astype(np.float64)) / np.linalg.norm(draw)
        made[key] = (scale * draw).astype(np.float32)
    return made
