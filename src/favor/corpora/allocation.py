"""How much of its own text each client trains on: long-tailed by rank^-alpha, capped by what there is.

The paper's main split is "medium non-IID long-tail, target/realised Gini 0.25/0.196, 904,378 allocated word units".
The authors' release builds it as here with alpha 0.7, a total equal to what is available and shuffle seed 2027.
"""

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from favor.corpora.settings import WordBudgets
from favor.foundation.errors import UserError

# The paper's imbalance sweep: exponents of the weights, and exactly the same total (section on text volume).
SWEEP_ALPHA = {"balanced": 0.0, "moderate": 0.35, "strong": 0.70}
TOLERANCE = 0.05  # share of a target that realised budgets may miss without a word


def gini(values: Sequence[float] | np.ndarray) -> float:
    """Return the plain Gini coefficient, sum_i (2 i - n - 1) x_(i) / (n sum x), of n ascending values; 0 for none."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    total, n = ordered.sum(), len(ordered)
    return float(((2 * np.arange(1, n + 1) - n - 1) * ordered).sum() / (n * total)) if total > 0 else 0.0


def rank_weights(clients: int, alpha: float) -> list[float]:
    """Return rank^-alpha for the ranks 1 to ``clients``."""
    return [rank**-alpha for rank in range(1, clients + 1)]


def allocate(available: Mapping[str, int], settings: WordBudgets) -> pd.DataFrame:
    """Return the ``allocation`` table for ``available``, word units of training text by client name.

    Weights by rank are shuffled over the clients in name order, scaled to the total, rounded, the rounding remainder
    given to (or taken from) the first clients a unit each, and capped at what the client has. Raises ``UserError`` for
    a shape of the sweep whose total is not set or more than there is.
    """
    clients = sorted(available)
    weights = rank_weights(len(clients), SWEEP_ALPHA.get(settings.shape, settings.alpha))
    # Python's own generator, for its shuffle is the one behind the release's figures.
    random.Random(settings.seed).shuffle(weights)
    have = np.array([available[client] for client in clients], dtype=np.int64)
    total = int(have.sum()) if settings.total_words is None else settings.total_words
    targets = _rounded(np.array([total * weight / sum(weights) for weight in weights]), total)
    allocated = np.minimum(have, targets)
    if settings.shape in SWEEP_ALPHA:
        if settings.total_words is None or settings.total_words > have.sum():
            raise UserError(
                f"config key 'allocation.total_words': shape '{settings.shape}' gives out exactly this many words; "
                f"there are {int(have.sum()):,}, so set at most that"
            )
        allocated = _filled(np.array(weights), have, total)
    elif settings.reach_total:
        allocated = _filled(np.array(weights), have, min(total, int(have.sum())))
    frame = pd.DataFrame(
        {"client": clients, "available_words": have, "target_words": targets, "allocated_words": allocated}
    )
    return frame.astype({"available_words": "int64", "target_words": "int64", "allocated_words": "int64"})


def missed_targets(allocation: pd.DataFrame) -> str:
    """Return a sentence about an ``allocation`` table whose total or Gini misses its target by over 5 %, else ""."""
    target, realised = (allocation[name].to_numpy() for name in ("target_words", "allocated_words"))
    missed = [
        f"{measure} {of(realised):,{form}} where {of(target):,{form}} was the target"
        for measure, of, form in (("total", lambda words: int(words.sum()), "d"), ("Gini", gini, ".3f"))
        if abs(of(realised) - of(target)) > TOLERANCE * of(target)
    ]
    capped = int((allocation["available_words"] < allocation["target_words"]).sum())
    if not missed:
        return ""
    return (
        f"Word budgets miss their targets: {'; '.join(missed)}. {capped} of {len(allocation)} clients have less text."
    )


def _rounded(shares: np.ndarray, total: int) -> np.ndarray:
    """Round shares and give (or take) the remainder from the first clients on, a unit each; nobody gets less than 0."""
    targets = np.array([round(share) for share in shares], dtype=np.int64)
    while (remainder := total - int(targets.sum())) != 0:
        open_to_it = np.flatnonzero(targets > 0) if remainder < 0 else np.arange(len(targets))
        targets[open_to_it[: abs(remainder)]] += 1 if remainder > 0 else -1
    return targets


def _filled(weights: np.ndarray, have: np.ndarray, total: int) -> np.ndarray:
    """Give out exactly ``total`` in proportion to the weights; what a client cannot take goes to those who can."""
    level, open_to_more = 0.0, np.ones(len(have), dtype=bool)
    while True:
        # Everyone with room gets level * weight, where level exhausts what is left beside the capped clients.
        level = (total - have[~open_to_more].sum()) / weights[open_to_more].sum()
        full = open_to_more & (level * weights >= have)
        if not full.any():
            break
        open_to_more &= ~full
        if not open_to_more.any():
            break
    allocated = np.where(open_to_more, np.floor(level * weights), have).astype(np.int64)
    # The units that flooring left over, to the first clients with room.
    for place in np.flatnonzero(allocated < have)[: total - int(allocated.sum())]:
        allocated[place] += 1
    return allocated
