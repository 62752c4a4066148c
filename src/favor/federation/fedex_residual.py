"""FedEx-LoRA's exact aggregation: the residual between the mean product and the product of means, kept as factors.

With B and A the weighted means of the clients' factors, sum_i w_i B_i A_i = B A + R, and the residual
R = sum_i w_i B_i A_i - B A joins the frozen weights of every client (Singhal et al., ACL 2025). For any client k,
sum_i w_i (B_i - B) = 0 gives R = sum_{i != k} w_i (B_i - B) (A_i - A_k), of rank (clients - 1) r: the factors that a
shared adapter's file holds beside its own, as ``frozen_A`` [R, d_in] and ``frozen_B`` [d_out, R] of every module.
"""

from collections.abc import Mapping

import numpy as np

from favor.federation.client_archive import State
from favor.foundation.lazy import LazyMapping

_FROZEN = ".frozen_"


def exact_mean(shared: State, deltas: Mapping[str, State], shares: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Return the mean of the clients' factors and all residuals so far, from those in ``shared`` and this round's.

    ``shares``: the clients' weights, which sum to one. The rank grows from round to round until it is the layer's own:
    then one of the factors is the identity. Sums run in float64.
    """
    result: dict[str, np.ndarray] = {}
    *others, last = sorted(deltas)
    for name_a in sorted(split(shared)[0]):
        if ".lora_A." not in name_a:
            continue
        name_b = name_a.replace(".lora_A.", ".lora_B.")
        ends_a, ends_b = (
            {client: shared[name].astype(np.float64) + deltas[client][name] for client in sorted(deltas)}
            for name in (name_a, name_b)
        )
        mean_a, mean_b = (sum(shares[client] * ends[client] for client in ends) for ends in (ends_a, ends_b))
        made = {name_a: mean_a, name_b: mean_b}
        frozen_a, frozen_b = (name.replace(".lora_", _FROZEN) for name in (name_a, name_b))
        right = [ends_a[client] - ends_a[last] for client in others]
        left = [shares[client] * (ends_b[client] - mean_b) for client in others]
        if frozen_a in shared:
            right, left = [shared[frozen_a], *right], [shared[frozen_b], *left]
        if right:
            made[frozen_b], made[frozen_a] = _within(np.concatenate(left, axis=1), np.concatenate(right))
        result |= {name: np.asarray(value, dtype=np.float32) for name, value in made.items()}
    return dict(sorted(result.items()))


def _within(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return factors of the same product whose rank is not above that of a whole matrix."""
    outputs, rank, inputs = len(left), len(right), right.shape[1]
    if rank <= min(outputs, inputs):
        return left, right
    return (left @ right, np.eye(inputs)) if inputs <= outputs else (np.eye(outputs), left @ right)


def split(shared: State) -> tuple[State, State]:
    """Return (the adapter that is trained, the residuals under its tensors' names) of a shared adapter's file."""
    own = [name for name in shared if _FROZEN not in name]
    frozen = {name.replace(_FROZEN, ".lora_"): name for name in shared if _FROZEN in name}
    return LazyMapping(own, lambda name: shared[name]), LazyMapping(list(frozen), lambda name: shared[frozen[name]])


def joined(shared: State) -> State:
    """Return the one adapter, of one higher rank in all layers, that computes what adapter and residuals do."""
    own, frozen = split(shared)
    if not frozen:
        return own
    most = max(len(frozen[name]) for name in frozen if ".lora_A." in name)

    def tensor(name: str) -> np.ndarray:
        axis = 0 if ".lora_A." in name else 1
        missing = most - frozen[name].shape[axis]
        padding = ((0, missing), (0, 0)) if axis == 0 else ((0, 0), (0, missing))
        return np.concatenate([own[name], np.pad(frozen[name], padding)], axis=axis)

    return LazyMapping(list(own), tensor)
