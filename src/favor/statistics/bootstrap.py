"""Cluster bootstrap in closed form: means, AUC and EER of all draws at once, paired between methods.

A draw takes C clusters with replacement; ``counts`` [draws, C] says how often each was taken. The same matrix serves
both methods of a comparison, which pairs them. A statistic with ``counts`` of ones is the observed value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from favor.foundation.seeds import numpy_generator

DRAWS = 10_000


@dataclass(frozen=True)
class Comparison:
    """A paired comparison. ``delta`` and its 95 % percentile interval are signed so that positive favours the left.

    ``draws`` counts the draws in which both statistics exist; interval and p-value rest on these.
    """

    left: float
    right: float
    delta: float
    low: float
    high: float
    p: float
    draws: int


def resample_counts(clusters: int, seed: int, draws: int = DRAWS) -> np.ndarray:
    """Draw ``draws`` resamples of ``clusters`` clusters: float64 [draws, clusters], every row sums to ``clusters``."""
    generator = numpy_generator(seed, "cluster bootstrap", clusters)
    return generator.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=draws).astype(np.float64)


def mean_draws(values: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mean of ``values`` [n] in every draw; ``cluster`` [n] is the cluster index of each value. NaN for empty draws."""
    clusters = counts.shape[1]
    sums = np.bincount(cluster, weights=values, minlength=clusters)
    sizes = np.bincount(cluster, minlength=clusters).astype(np.float64)
    return _ratio(counts @ sums, counts @ sizes)


def win_counts(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """W [clusters, clusters]: W[a, b] counts how often a positive of a outscores a negative of b, ties half."""
    wins = np.zeros((clusters, clusters))
    scored, owner = scores[positive], cluster[positive]
    for index in range(clusters):
        negatives = np.sort(scores[~positive & (cluster == index)])
        beaten = (np.searchsorted(negatives, scored, "left") + np.searchsorted(negatives, scored, "right")) / 2
        wins[:, index] = np.bincount(owner, weights=beaten, minlength=clusters)
    return wins


def auc_draws(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """AUC of the pairs in every draw: rowsum((M W) * M) / ((M P)(M N)), with M the counts and W the win counts.

    P and N are the positives and negatives per cluster. Equals the AUC over the resampled pairs exactly; NaN for
    draws without both classes.
    """
    clusters = counts.shape[1]
    wins = win_counts(scores, positive, cluster, clusters)
    positives = np.bincount(cluster[positive], minlength=clusters).astype(np.float64)
    negatives = np.bincount(cluster[~positive], minlength=clusters).astype(np.float64)
    return _ratio(((counts @ wins) * counts).sum(axis=1), (counts @ positives) * (counts @ negatives))


def pair_auc_draws(scores: np.ndarray, left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """AUC in every draw of pairs between two items, each with a cluster of its own: ``left`` and ``right`` [n].

    A pair is positive within a cluster and negative between two. A draw that takes cluster a m_a times holds m_a of
    its positives and m_a m_b of the negatives between a and b: copies of a cluster are not paired with one another.
    AUC* = sum_a m_a sum_bc m_b m_c W[a, bc] / (sum_a m_a P_a) / (sum_bc m_b m_c N_bc), with W the win counts. NaN for
    draws without both classes.
    """
    clusters = counts.shape[1]
    positive = left == right
    # One row per unordered pair of clusters: in the upper half of a square matrix.
    place = np.minimum(left, right)[~positive] * clusters + np.maximum(left, right)[~positive]
    positives = np.bincount(left[positive], minlength=clusters).astype(np.float64)
    negatives = np.bincount(place, minlength=clusters**2).reshape(clusters, clusters)
    wins = np.zeros(len(counts))
    for index in range(clusters):  # one matrix at a time: all of them are clusters^3 numbers
        own = np.sort(scores[positive & (left == index)])
        lower, upper = (np.searchsorted(own, scores[~positive], side=side) for side in ("left", "right"))
        above = np.bincount(place, weights=len(own) - (lower + upper) / 2, minlength=clusters**2)
        wins += counts[:, index] * ((counts @ above.reshape(clusters, clusters)) * counts).sum(axis=1)
    return _ratio(wins, (counts @ positives) * ((counts @ negatives) * counts).sum(axis=1))


def pair_mean_draws(values: np.ndarray, left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mean in every draw of ``values`` of pairs between two items of different clusters, ``left`` and ``right`` [n].

    A draw that takes clusters a and b m_a and m_b times holds m_a m_b of the pairs between them; copies of a cluster
    are not paired with one another. NaN for draws without a pair.
    """
    clusters = counts.shape[1]
    sums, sizes = np.zeros((clusters, clusters)), np.zeros((clusters, clusters))
    np.add.at(sums, (left, right), values)
    np.add.at(sizes, (left, right), 1.0)
    return _ratio(((counts @ sums) * counts).sum(axis=1), ((counts @ sizes) * counts).sum(axis=1))


def macro_f1_draws(true: np.ndarray, predicted: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Macro-F1 in every draw of authors: the mean of F1_a = 2 TP_a / (2 TP_a + FP_a + FN_a) over the authors drawn.

    ``true`` and ``predicted`` [n] are author indices. With C[a, b] the outputs of a predicted as b and m the counts,
    TP_a = C[a, a], FN_a = sum_b!=a C[a, b] and FP_a = sum_b!=a m_b C[b, a]: a copy of an author keeps its own hits.
    Authors without an output are not a class; NaN for a draw without any.
    """
    clusters = counts.shape[1]
    confusion = np.zeros((clusters, clusters))
    np.add.at(confusion, (true, predicted), 1.0)
    hits = np.diag(confusion).copy()
    missed = confusion.sum(axis=1) - hits
    np.fill_diagonal(confusion, 0.0)
    classes = np.flatnonzero(hits + missed)
    score = 2 * hits[classes] / (2 * hits[classes] + (counts @ confusion)[:, classes] + missed[classes])
    weights = counts[:, classes]
    return _ratio((weights * score).sum(axis=1), weights.sum(axis=1))


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve: the exact rank statistic P(s+ > s-) + P(s+ = s-) / 2. NaN without both classes."""
    return float(auc_draws(scores, positive, np.zeros(len(scores), dtype=np.int64), observed(1))[0])


def eer_draws(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Equal error rate of the pairs in every draw, as :meth:`favor.statistics.roc.Roc.equal_error_rate` defines it.

    FNR - FPR falls with the threshold, so every draw finds its two nearest thresholds by bisection; the counts at a
    threshold are dot products with per-cluster cumulative counts. They are whole numbers, which float64 holds exactly
    up to 2^53, so ties are decided as there. NaN for draws without both classes.
    """
    clusters = counts.shape[1]
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    accepted = [_accepted(mask[order], cluster[order], last, clusters) for mask in (positive, ~positive)]
    positives, negatives = (counts @ table[-1] for table in accepted)

    def errors(threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """FNR and FPR, both times positives * negatives."""
        hit, false = (np.einsum("dc,dc->d", counts, table[threshold]) for table in accepted)
        return (positives - hit) * negatives, false * positives

    low = np.zeros(len(counts), dtype=np.int64)  # FNR > FPR here, as at the first threshold (1 > 0)
    high = np.full(len(counts), len(last), dtype=np.int64)  # FNR <= FPR here, as at the last (0 < 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        missed, false = errors(middle)
        above = missed > false
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    before, after = errors(low), errors(high)
    first = np.abs(before[0] - before[1]) <= np.abs(after[0] - after[1])
    return _ratio(np.where(first, before[0] + before[1], after[0] + after[1]), 2 * positives * negatives)


def observed(clusters: int) -> np.ndarray:
    """Counts [1, clusters] that take every cluster once: the statistic of the data itself."""
    return np.ones((1, clusters))


def bootstrap_p(differences: np.ndarray) -> float:
    """Two-sided tail probability min(1, 2 min(1 + #(d <= 0), 1 + #(d >= 0)) / (B + 1)); NaN draws are left out."""
    known = differences[~np.isnan(differences)]
    if len(known) == 0:
        return float("nan")
    tail = min(1 + int((known <= 0).sum()), 1 + int((known >= 0).sum()))
    return float(min(1.0, 2.0 * tail / (len(known) + 1)))


def compare(
    left: float, right: float, left_draws: np.ndarray, right_draws: np.ndarray, higher_is_better: bool = True
) -> Comparison:
    """Compare two observed values whose draws came from the same counts."""
    sign = 1.0 if higher_is_better else -1.0
    differences = sign * (left_draws - right_draws)
    known = differences[~np.isnan(differences)]
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (float("nan"), float("nan"))
    delta = sign * (left - right)
    return Comparison(left, right, delta, float(low), float(high), bootstrap_p(differences), len(known))


def interval(draws: np.ndarray) -> tuple[float, float]:
    """The 95 % percentile interval of the draws that exist."""
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(low), float(high)


def _accepted(member: np.ndarray, cluster: np.ndarray, last: np.ndarray, clusters: int) -> np.ndarray:
    """Members of each cluster accepted at every threshold, none at the first: [thresholds + 1, clusters]."""
    steps = np.zeros((len(last) + 1, clusters))
    threshold = np.searchsorted(last, np.arange(len(member)))
    np.add.at(steps, (threshold[member] + 1, cluster[member]), 1.0)
    return np.cumsum(steps, axis=0)


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)
