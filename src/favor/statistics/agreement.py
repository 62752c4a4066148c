"""Agreement between raters who each put every item into one category."""

import numpy as np

from favor.foundation.errors import UserError


def agreement_by_item(votes: np.ndarray) -> np.ndarray:
    """Return the share of rater pairs that agree, [items]; ``votes`` [items, categories] counts the raters."""
    raters = votes.sum(axis=1)
    if raters.min() < 2 or raters.min() < raters.max():
        found = np.unique(raters).tolist()
        raise UserError(f"agreement: items have {found} votes; give every item the same number, at least 2")
    return (votes * (votes - 1)).sum(axis=1) / (raters * (raters - 1))


def fleiss_kappa(votes: np.ndarray) -> float:
    """Fleiss' kappa (P - P_e) / (1 - P_e) of ``votes`` [items, categories]; NaN where one category has every vote."""
    return float(kappa_draws(votes, np.zeros(len(votes), dtype=np.int64), np.ones((1, 1)))[0])


def kappa_draws(votes: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Fleiss' kappa in every draw of clusters: [draws]. ``cluster`` [items]; ``counts`` [draws, clusters]."""
    agreeing = np.bincount(cluster, agreement_by_item(votes), counts.shape[1])
    chosen = np.zeros((counts.shape[1], votes.shape[1]))
    np.add.at(chosen, cluster, votes)
    items, drawn = counts @ np.bincount(cluster, minlength=counts.shape[1]), counts @ chosen
    observed, expected = counts @ agreeing / items, ((drawn / drawn.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return np.divide(observed - expected, 1 - expected, out=np.full(len(counts), np.nan), where=expected < 1)
