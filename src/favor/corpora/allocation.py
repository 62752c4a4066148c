"""How much of its own text each client trains on: long-tailed by rank^-alpha, capped by what there is.

The paper's main split is "medium non-IID long-tail, target/realised Gini 0.25/0.196, 904,378 allocated word units".
The authors' release builds it as here with alpha 0.7, a total equal to what is available and shuffle seed 2027.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError

GINI_OF_LEVEL = {"moderate": 0.35, "strong": 0.70}  # the paper's imbalance sweep
LEVELS = ("long_tail", "balanced", *GINI_OF_LEVEL)


@dataclass(frozen=True)
class AllocationSettings:
    """``level``: "long_tail" (rank^-``alpha``), "balanced" (equal), "moderate" or "strong" (the alpha whose weights
    have a Gini of 0.35 or 0.7). ``total_words``: word units asked for over all clients; 0 asks for all there are.

    ``shuffle_seed`` fixes who gets which rank: the release's own value, since the split is frozen over training
    seeds. ``enforce``: false trains on all of the text and keeps the allocation for the server's weights alone
    (the release's "weights_only").
    """

    level: str = "long_tail"
    alpha: float = 0.7
    total_words: int = 0
    shuffle_seed: int = 2027
    enforce: bool = True


def gini(values: Sequence[float] | np.ndarray) -> float:
    """Return the plain Gini coefficient, sum_i (2 i - n - 1) x_(i) / (n sum x), of n ascending values; 0 for none."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    total, n = ordered.sum(), len(ordered)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * total)) if total > 0 else 0.0


def rank_weights(clients: int, alpha: float) -> list[float]:
    """Return rank^-alpha for the ranks 1 to ``clients``."""
    return [rank**-alpha for rank in range(1, clients + 1)]


def alpha_of_gini(clients: int, target: float) -> float:
    """Return the alpha at which the weights of ``clients`` ranks have a Gini of ``target``, to 1e-12 by bisection.

    Raises ``UserError`` where so few clients cannot be that unequal: the Gini of n values stays under 1 - 1/n.
    """
    low, high = 0.0, 64.0
    if gini(rank_weights(clients, high)) < target:
        raise UserError(f"allocation: {clients} clients cannot have a Gini of {target}; take more clients")
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if gini(rank_weights(clients, middle)) < target else (low, middle)
    return (low + high) / 2


def allocate(available: Mapping[str, int], settings: AllocationSettings) -> pd.DataFrame:
    """Return the ``allocation`` table for ``available``, word units of training text by client name.

    Weights by rank are shuffled over the clients in name order, scaled to the total, rounded, the rounding remainder
    given to (or taken from) the first clients a unit each, and capped at what the client has.
    """
    if settings.level not in LEVELS:
        raise UserError(f"config key 'allocation.shape': '{settings.level}' is none of {', '.join(LEVELS)}")
    clients = sorted(available)
    alpha = {"long_tail": settings.alpha, "balanced": 0.0}.get(settings.level)
    if alpha is None:
        alpha = alpha_of_gini(len(clients), GINI_OF_LEVEL[settings.level])
    weights = rank_weights(len(clients), alpha)
    # Python's own generator, for its shuffle is the one behind the release's figures.
    random.Random(settings.shuffle_seed).shuffle(weights)
    total = settings.total_words or sum(available.values())
    targets = [round(total * weight / sum(weights)) for weight in weights]
    remainder = total - sum(targets)
    for place in range(abs(remainder)):
        targets[place % len(targets)] += 1 if remainder > 0 else -1
    frame = pd.DataFrame(
        {"client": clients, "available_words": [available[client] for client in clients], "target_words": targets}
    )
    return frame.assign(allocated_words=frame[["available_words", "target_words"]].min(axis=1)).astype(
        {"available_words": "int64", "target_words": "int64", "allocated_words": "int64"}
    )
