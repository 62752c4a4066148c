"""The server: it holds the shared adapter and aggregates what clients upload, and sees nothing else of them."""

from collections.abc import Mapping

import numpy as np

from favor.federation.client_archive import State
from favor.federation.fedex_residual import exact_mean
from favor.federation.ranks import filled
from favor.federation.server_rule import ServerRule
from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import numpy_generator


def update(
    rule: ServerRule,
    shared: State,
    memory: State,
    deltas: Mapping[str, State],
    weights: Mapping[str, float],
    server_learning_rate: float,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return (the next shared adapter, the server's moments after it) under ``rule``, which states the equations.

    For "mean" it is A_{t+1} = A_t + eta_g * sum_i omega_i Delta_i (Eqs. shared_aggregation_delta,
    shared_adapter_update). ``weights`` are normalised to sum to one here. The sum runs in float64 over clients in name
    order, so it does not depend on how uploads were packed or ordered. A tensor that nobody uploads stays as it is.

    ``deltas``: the uploads of the round by client, those of a lower rank than the shared adapter's filled up
    (:mod:`favor.federation.ranks`); for "members" the last adapter of every client that took part.
    ``memory``: the moments that the last round returned, ``m/<tensor>`` and, for "adam" and "yogi", ``v/<tensor>``;
    empty before the first round, and for rules without moments.
    """
    deltas = {client: filled(own, shared) for client, own in deltas.items()}
    shares = _shares(deltas, weights)
    if rule.kind == "members":
        return {key: _mean(deltas, shares, key).astype(np.float32) for key in sorted(shared)}, {}
    if rule.kind == "svd":
        return _nearest_product(shared, deltas, shares, rule.rate * server_learning_rate), {}
    if rule.kind == "exact":
        return exact_mean(shared, deltas, shares), {}
    means = LazyMapping(sorted(deltas[min(deltas)]), lambda key: _mean(deltas, shares, key))
    return step(rule, shared, memory, means, server_learning_rate)


def step(
    rule: ServerRule, shared: State, memory: State, means: State, server_learning_rate: float
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return what :func:`update` does, from the mean of the uploads: ``means`` has the tensors that were uploaded."""
    rate = rule.rate * server_learning_rate
    result, kept = {}, {}
    for key in sorted(shared):
        result[key] = np.array(shared[key])
        if key not in means:
            continue
        mean = means[key]
        if rule.kind == "mean":
            result[key] = (shared[key].astype(np.float64) + rate * mean).astype(np.float32)
            continue
        first = memory[f"m/{key}"].astype(np.float64) if memory else np.zeros_like(mean)
        if rule.kind == "momentum":
            first = change = rule.beta1 * first + mean
        else:
            first = rule.beta1 * first + (1.0 - rule.beta1) * mean
            second = memory[f"v/{key}"].astype(np.float64) if memory else np.full_like(mean, rule.tau**2)
            excess = second - mean**2
            second = second - (1.0 - rule.beta2) * (excess if rule.kind == "adam" else mean**2 * np.sign(excess))
            kept[f"v/{key}"] = second.astype(np.float32)
            change = first / (np.sqrt(second) + rule.tau)
        kept[f"m/{key}"] = first.astype(np.float32)
        result[key] = (shared[key].astype(np.float64) + rate * change).astype(np.float32)
    return result, kept


def _shares(deltas: Mapping[str, State], weights: Mapping[str, float]) -> dict[str, float]:
    """Return the clients' weights in name order, which sum to one."""
    if not deltas:
        raise ValueError("no uploads to aggregate")
    total = sum(weights[client] for client in sorted(deltas))
    if not total > 0:
        raise ValueError("the weights of the uploads sum to zero")
    return {client: weights[client] / total for client in sorted(deltas)}


def _mean(deltas: Mapping[str, State], shares: Mapping[str, float], key: str) -> np.ndarray:
    """Return sum_i omega_i Delta_i of one tensor, in float64."""
    step = np.zeros(deltas[min(deltas)][key].shape, dtype=np.float64)
    for client, share in shares.items():
        step += share * deltas[client][key].astype(np.float64)
    return step


def _nearest_product(
    shared: State, deltas: Mapping[str, State], shares: Mapping[str, float], rate: float
) -> dict[str, np.ndarray]:
    """Return for every module the rank-r factors whose product is nearest, in Frobenius norm, to the mean product.

    The products' sum is L R with L = [B_t, B_1, ...] (weighted) and R = [A_t; A_1; ...]. With the QR factors
    L = Q S and R^T = P T its singular values are those of S T^T, of C r rows: no d x d product is made. B takes the
    singular values and A is orthonormal (docs/design.md); the largest entry of each column of B is positive.
    """
    result: dict[str, np.ndarray] = {}
    for name_a in (key for key in sorted(shared) if ".lora_A." in key):
        name_b = name_a.replace(".lora_A.", ".lora_B.")
        old_a, old_b = (shared[name].astype(np.float64) for name in (name_a, name_b))
        left = [(1.0 - rate) * old_b] if rate != 1.0 else []
        right = [old_a] if rate != 1.0 else []
        for client, share in shares.items():
            left.append(rate * share * (old_b + deltas[client][name_b]))
            right.append(old_a + deltas[client][name_a])
        outer, inner = np.linalg.qr(np.concatenate(left, axis=1))
        across, low = np.linalg.qr(np.concatenate(right, axis=0).T)
        columns, values, rows = np.linalg.svd(inner @ low.T, full_matrices=False)
        rank = old_a.shape[0]
        new_b = outer @ (columns[:, :rank] * values[:rank])
        new_a = rows[:rank] @ across.T
        signs = np.sign(new_b[np.abs(new_b).argmax(axis=0), np.arange(new_b.shape[1])])
        signs[signs == 0] = 1.0
        # Where the layer is narrower than the rank, the rest of the factors is zero.
        result[name_a], result[name_b] = np.zeros(old_a.shape, np.float32), np.zeros(old_b.shape, np.float32)
        result[name_a][: len(new_a)] = new_a * signs[:, None]
        result[name_b][:, : len(new_a)] = new_b * signs
    return dict(sorted(result.items()))


def delta(endpoint: State, shared: State, scale: float = 1.0) -> dict[str, np.ndarray]:
    """Return the upload ``scale`` * (endpoint - A_t), tensor by tensor (Eq. shared_delta), at the endpoint's rank."""
    begun = {key: shared[key][tuple(map(slice, endpoint[key].shape))] for key in sorted(shared)}
    return {key: (scale * (endpoint[key] - begun[key])).astype(np.float32) for key in begun}


def mean_of_others(mean: State, own: State | None, members: int) -> State:
    """Return the mean of the other members' adapters, (n mean - own) / (n - 1), computed in float64.

    ``mean``: that of all n = ``members``; ``own``: one of theirs, None for a client that is not among them. Where there
    are no others it is an adapter of zeros, which adds nothing.
    """
    if members == (own is not None):
        return LazyMapping(sorted(mean), lambda key: np.zeros_like(mean[key]))
    if own is None:
        return mean

    def others(key: str) -> np.ndarray:
        total = members * mean[key].astype(np.float64) - own[key]
        return np.asarray(total / (members - 1), dtype=np.float32)

    return LazyMapping(sorted(mean), others)


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
