"""How well an attack does: exposure of a secret, true positives at few false ones, privacy loss between two normals."""

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import chi2
from scipy.stats import t as student_t

from favor.statistics.rank_agreement import correlate, drawn_authors, ranks

_BISECTIONS = 100


def exposure(rank: np.ndarray, candidates: int) -> np.ndarray:
    """Return log2(candidates + 1) - log2(rank) in bits: how far guessing a secret is shortened (Carlini et al. 2019).

    ``rank`` is the secret's place, from 1, among itself and ``candidates`` others of its kind, the likeliest first. A
    model that never saw it gives every rank alike: 1.44 bits on average.
    """
    return np.asarray(np.log2(candidates + 1) - np.log2(rank))


def tpr_draws(
    scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray, rate: float
) -> np.ndarray:
    """Return the true-positive rate at a false-positive rate of at most ``rate`` in every draw of clusters.

    A threshold accepts every score from it on, so that equal scores go together; each draw has a threshold of its own.
    With fewer than 1 / ``rate`` negatives no negative is accepted. ``scores``, ``positive`` (bool) and ``cluster``
    [n]; ``counts`` [draws, clusters] of :func:`favor.statistics.bootstrap.resample_counts`. NaN for draws without both
    classes.
    """
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # of each run of equal scores
    threshold = np.searchsorted(last, np.arange(len(scores)))
    tables = []
    for mask in (positive[order], ~positive[order]):
        steps = np.zeros((len(last) + 1, counts.shape[1]))
        np.add.at(steps, (threshold[mask] + 1, cluster[order][mask]), 1.0)
        tables.append(np.cumsum(steps, axis=0))
    accepted, false = tables
    positives, negatives = counts @ accepted[-1], counts @ false[-1]
    # False positives rise with the number of thresholds passed: the most that are allowed are found by bisection.
    low, high = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), len(last) + 1, dtype=np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        allowed = np.einsum("dc,dc->d", counts, false[middle]) <= rate * negatives + 1e-9
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    hits = np.einsum("dc,dc->d", counts, accepted[low])
    known = (positives > 0) & (negatives > 0)
    return np.divide(hits, positives, out=np.full(len(hits), np.nan), where=known)


def rank_correlation_draws(left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Spearman's rank correlation of ``left`` and ``right`` [n] in every draw of the n; NaN without spread."""
    drawn = drawn_authors(counts)
    return correlate(ranks(left[drawn]), ranks(right[drawn]))


def privacy_loss(mean: np.ndarray, deviation: np.ndarray, delta: float) -> np.ndarray:
    """Return the smallest epsilon >= 0 for which N(0, 1) and N(mean, deviation^2) are (epsilon, delta)-close.

    Both directions count: the supremum over events S of P(S) - e^epsilon Q(S) is at most ``delta`` for P and Q either
    way round. The likelihood ratio of two normals passes e^epsilon between or outside two points, so the supremum has
    a closed form, and epsilon is found by bisection. ``mean`` and ``deviation`` (above 0): [n] each.

    With statistics that are N(0, 1) where a client took no part and N(mean, deviation^2) where it did, this is the
    empirical epsilon of Andrew et al. 2024 (Algorithm 1).
    """
    mean, deviation = np.abs(np.asarray(mean, dtype=np.float64)), np.asarray(deviation, dtype=np.float64)
    # Q seen in P's units is N(-mean / deviation, 1 / deviation^2).
    return np.maximum(_one_sided(mean, deviation, delta), _one_sided(mean / deviation, 1.0 / deviation, delta))


def privacy_loss_bound(values: np.ndarray, delta: float, risk: float = 0.05) -> float:
    """Return a bound that is above :func:`privacy_loss` with probability ``risk``, from ``values`` of its normal [n].

    Mean and deviation are in their joint confidence region (Student's and the chi-square interval, each at 1 - risk /
    2); the bound is the least epsilon of the region. NaN for fewer than two values.
    """
    n = len(values)
    if n < 2:
        return float("nan")
    tail, spread = risk / 4, float(np.std(values, ddof=1))
    mean = max(0.0, abs(float(np.mean(values))) - student_t.ppf(1 - tail, n - 1) * spread / np.sqrt(n))
    ends = spread * np.sqrt((n - 1) / chi2.ppf([1 - tail, tail], n - 1))
    # Rounding leaves no spread of nothing.
    low, high = (max(float(end), 1e-6) for end in ends)
    if mean == 0.0 and low <= 1.0 <= high:  # nothing leaks for all that is known
        return 0.0
    deviations = np.append(np.geomspace(low, high, 401), min(max(1.0, low), high))
    return float(privacy_loss(np.full(len(deviations), mean), deviations, delta).min())


def _one_sided(mean: np.ndarray, deviation: np.ndarray, delta: float) -> np.ndarray:
    """Return the smallest epsilon >= 0 with P(S) - e^epsilon Q(S) <= delta, P = N(mean, deviation^2), Q = N(0, 1)."""
    high = np.ones_like(mean)
    while (grows := _excess(mean, deviation, high) > delta).any():
        high = np.where(grows, 2 * high, high)
    low = np.zeros_like(mean)
    nothing = _excess(mean, deviation, low) <= delta
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if (nothing | (middle == low) | (middle == high)).all():
            break
        above = _excess(mean, deviation, middle) > delta
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(nothing, 0.0, high)


def _excess(mean: np.ndarray, deviation: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Return P(S) - e^epsilon Q(S) on S = {x: ln p(x) - ln q(x) > epsilon}, the event that makes it largest."""
    # ln p - ln q - epsilon = a x^2 + b x + c
    a = (1.0 - deviation**-2) / 2
    b = mean / deviation**2
    c = -np.log(deviation) - (mean / deviation) ** 2 / 2 - epsilon
    equal = np.abs(a) < 1e-12  # a half-line
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
    safe_a = np.where(equal, 1.0, a)
    # The stable pair of roots: q / a and c / q.
    q = -(b + np.where(b < 0, -1.0, 1.0) * root) / 2
    first, second = q / safe_a, np.divide(c, q, out=np.zeros_like(c), where=q != 0)
    low, high = np.minimum(first, second), np.maximum(first, second)
    line = np.divide(-c, b, out=np.full_like(c, np.inf), where=b > 0)
    crosses = b**2 - 4 * a * c > 0  # if not, the difference is above epsilon nowhere (a < 0) or everywhere

    def log_probability(centre: np.ndarray | float, scale: np.ndarray | float) -> np.ndarray:
        left, right = (low - centre) / scale, (high - centre) / scale
        inside = np.where(crosses, _log_between(left, right), -np.inf)
        outside = np.where(crosses, np.logaddexp(log_ndtr(left), log_ndtr(-right)), 0.0)
        return np.where(equal, log_ndtr((centre - line) / scale), np.where(a < 0, inside, outside))

    return np.asarray(np.exp(log_probability(mean, deviation)) - np.exp(epsilon + log_probability(0.0, 1.0)))


def _log_between(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ln(Phi(right) - Phi(left)), taken in the tail where both lie."""
    upper = left > 0
    one, other = np.where(upper, -left, right), np.where(upper, -right, left)
    large, small = log_ndtr(one), log_ndtr(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(large > small, large + np.log1p(-np.exp(small - large)), -np.inf))
