"""95 % limits of counts and ranks whose distribution is known: no resampling, right with few authors too."""

import numpy as np
from scipy.stats import beta, chi2

from favor.statistics.bootstrap import RATE, interval, mean_draws

_TAIL = 0.025


def rate_limits(hits: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Return the limits of a rate over clusters: of decisions ``hits`` [n], 0 to 1, of the clusters ``cluster`` [n].

    Where each cluster decides once they are :func:`binomial_limits`, and otherwise those of the draws ``counts``
    (:func:`favor.statistics.bootstrap.interval`).
    """
    sizes = np.bincount(cluster, minlength=counts.shape[1])
    if sizes.max() == 1 and np.isin(hits, (0, 1)).all():
        return binomial_limits(int(hits.sum()), len(hits))
    return interval(mean_draws(hits, cluster, counts), int((sizes > 0).sum()), RATE)


def binomial_limits(successes: int, trials: int) -> tuple[float, float]:
    """Return Jeffreys's limits of a rate: from quantiles of the beta distribution (x + 1/2, n - x + 1/2).

    They lie between the two tails of Clopper and Pearson (1934), which count all of x's own probability or none, so
    that on average over rates they hold the truth in 95 % (Brown, Cai and DasGupta 2001), and not in 99 % of six
    trials. No success has the lower limit 0, and no failure the upper limit 1.
    """
    low = beta.ppf(_TAIL, successes + 0.5, trials - successes + 0.5) if successes > 0 else 0.0
    high = beta.ppf(1 - _TAIL, successes + 0.5, trials - successes + 0.5) if successes < trials else 1.0
    return float(low), float(high)


def exponential_mean_limits(mean: float, number: int) -> tuple[float, float]:
    """Return the limits of the mean of an exponential distribution, from the ``mean`` of ``number`` draws of it.

    2 n x / mu follows chi-square with 2 n degrees of freedom. log2 of (candidates + 1) / rank, with every rank alike,
    is such a variable with mean 1 / ln 2 but for rounding to whole ranks.
    """
    total = 2 * number * mean
    return float(total / chi2.ppf(1 - _TAIL, 2 * number)), float(total / chi2.ppf(_TAIL, 2 * number))
