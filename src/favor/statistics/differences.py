"""The paired difference of two rows over the same authors and seeds: its 95 % interval, and a p that agrees with it."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from favor.statistics.bootstrap import by_seed, mean_over_seeds, standard_error, variance_of_seeds
from favor.statistics.sign_flips import sign_flip_p

LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """A paired comparison. ``delta`` and its 95 % interval are signed so that positive favours the left.

    0 is in the interval where ``p`` is .05 or more, and nowhere else. ``draws`` counts the draws in which both
    statistics exist: the interval's.
    """

    left: float
    right: float
    delta: float
    low: float
    high: float
    p: float
    draws: int


def compare(
    left: np.ndarray,
    right: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    shares: np.ndarray,
    seed: int,
    higher_is_better: bool = True,
    span: float = math.inf,
    least: float = 0.0,
) -> Comparison:
    """Compare two statistics by their values in the same draws of authors.

    left, right: [1 + draws], the observed value first, or [seeds, 1 + draws] of means over the same seeds.
    weights: [authors], what each weighs in the difference, such as its outputs; 0 for one without a value in both.
    counts: [1 + draws, authors], the draws.
    shares: [authors], of :mod:`favor.statistics.sign_flips`, signed as left - right; ``seed`` draws the flips.
    span: how far apart two values of the measure can be. least: the smallest p that is given.

    The interval is Student's, with the degrees of freedom of the effective number of authors, (sum of weights)^2 / sum
    of squares, less 1 (Kish 1965, 11.7), and within the span. It has no correction for skewness: where two rows do
    equally well their difference is symmetric. What three seeds and more do to all authors alike is added
    (:func:`favor.statistics.bootstrap.variance_of_seeds`). Where no author differs from another it holds what N authors
    leave open: of the authors up to 1 - .05^(1/N) may be others, as far away as the span allows.

    p is the sign-flip test's, or that of Student's interval over authors and seeds where there are three seeds and it
    is larger. It decides whether 0 is in the interval: an end of Student's on the other side of 0 is moved to 0, or to
    where the sign-flip test begins to reject.
    """
    sign = 1.0 if higher_is_better else -1.0
    differences = sign * by_seed(left, right)
    mean, number = mean_over_seeds(differences), effective_number(weights)
    delta, known = float(mean[0]), int(np.isfinite(mean[1:]).sum())
    values = float(mean_over_seeds(left)[0]), float(mean_over_seeds(right)[0]), delta
    error = standard_error(mean, number, counts)
    if not math.isfinite(delta) or math.isnan(error):
        return Comparison(*values, math.nan, math.nan, math.nan, known)
    of_seeds = variance_of_seeds(differences, number)
    freedoms = np.array([number - 1, len(differences) - 1.0]), np.array([error**2, of_seeds])
    p = max(sign_flip_p(shares, seed), least)
    if differences.ndim == 2 and of_seeds:
        p = max(p, _p_of_both(delta, *freedoms, p))
    half = _half_width(LEVEL, *freedoms)
    low, high = delta - half, delta + half
    if not half:
        others = 1 - LEVEL ** (1 / np.count_nonzero(weights))
        low, high = delta - others * (delta + span), delta + others * (span - delta)
    low, high = max(low, -span), min(high, span)
    if p >= LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    elif low <= 0 <= high:
        end = _first_rejected(sign * shares, weights, delta, seed)
        low, high = (end, high) if delta > 0 else (low, end)
    if math.isinf(high - low):
        low, high = math.nan, math.nan
    return Comparison(*values, low, high, p, known)


def effective_number(weights: np.ndarray) -> float:
    """Return as how many equal ones ``weights`` count: (sum)^2 / sum of squares; 0 where all are 0."""
    squares = float((weights.astype(np.float64) ** 2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def _half_width(p: float, freedom: np.ndarray, variance: np.ndarray) -> float:
    """Return half of the interval of level 1 - ``p``: the halves of each source of variance, added in squares."""
    there = variance > 0
    return math.sqrt(float((stdtrit(freedom[there], 1 - p / 2) ** 2 * variance[there]).sum()))


def _p_of_both(delta: float, freedom: np.ndarray, variance: np.ndarray, least: float) -> float:
    """Return the p at which the interval ends at 0; ``least`` where that is less."""
    if _half_width(least, freedom, variance) <= abs(delta):
        return least
    return float(brentq(lambda p: _half_width(p, freedom, variance) - abs(delta), least, 1.0, xtol=1e-12))


def _first_rejected(shares: np.ndarray, weights: np.ndarray, delta: float, seed: int) -> float:
    """Return the number next to 0, between 0 and ``delta``, from which the sign-flip test rejects towards 0.

    A difference of x in truth leaves shares - x weights, with weights so that the sum is 0 at ``delta``.
    """
    unit = weights / weights.sum() * shares.sum() / delta
    rejected, kept = 0.0, delta
    while abs(kept - rejected) > 1e-6 * abs(delta):
        middle = (rejected + kept) / 2
        if sign_flip_p(shares - middle * unit, seed) < LEVEL:
            rejected = middle
        else:
            kept = middle
    return kept
