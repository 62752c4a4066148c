"""Agreement between raters who each put every item into one category."""

from __future__ import annotations

import numpy as np

from favor.foundation.errors import UserError


def pairwise_agreement(votes: np.ndarray) -> float:
    """Mean over items of the share of rater pairs that agree; ``votes`` [items, categories] counts the raters."""
    raters = _raters(votes)
    return float(((votes * (votes - 1)).sum(axis=1) / (raters * (raters - 1))).mean())


def fleiss_kappa(votes: np.ndarray) -> float:
    """Fleiss' kappa (P - P_e) / (1 - P_e) of ``votes`` [items, categories]; NaN where one category has every vote."""
    observed = pairwise_agreement(votes)
    expected = float(((votes.sum(axis=0) / votes.sum()) ** 2).sum())
    return float("nan") if expected == 1.0 else (observed - expected) / (1.0 - expected)


def _raters(votes: np.ndarray) -> int:
    raters = np.unique(votes.sum(axis=1))
    if len(raters) != 1 or raters[0] < 2:
        raise UserError(f"agreement: items have {raters.tolist()} votes; give every item the same number, at least 2")
    return int(raters[0])
