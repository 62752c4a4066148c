"""Exact 95 % limits, for counts and ranks whose distribution is known: no resampling, right with few authors too."""

from __future__ import annotations

from scipy.stats import beta, chi2

_TAIL = 0.025


def binomial_limits(successes: float, trials: float) -> tuple[float, float]:
    """Return the limits of a rate after Clopper and Pearson (1934), from ``successes`` of ``trials``.

    ``successes`` need not be whole: where each of ``trials`` authors has several decisions, their rate times the number
    of authors gives the limits that hold even if an author's decisions are copies of one.
    """
    low = beta.ppf(_TAIL, successes, trials - successes + 1) if successes > 0 else 0.0
    high = beta.ppf(1 - _TAIL, successes + 1, trials - successes) if successes < trials else 1.0
    return float(low), float(high)


def exponential_mean_limits(mean: float, number: int) -> tuple[float, float]:
    """Return the limits of the mean of an exponential distribution, from the ``mean`` of ``number`` draws of it.

    2 n x / mu follows chi-square with 2 n degrees of freedom. log2 of (candidates + 1) / rank, with every rank alike,
    is such a variable with mean 1 / ln 2 but for rounding to whole ranks.
    """
    total = 2 * number * mean
    return float(total / chi2.ppf(1 - _TAIL, 2 * number)), float(total / chi2.ppf(_TAIL, 2 * number))
