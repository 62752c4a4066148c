"""The exact test of paired differences between two methods: what authors' differences show where signs are chance.

Where two methods do equally well, an author's difference is as likely to be d as -d (Fisher 1935). p is the share of
all 2^N patterns of signs in which the sum is as far from 0 as the one observed, so that p of N authors is never below
2 / 2^N, and no distribution is assumed.
"""

from functools import lru_cache

import numpy as np

from favor.foundation.seeds import numpy_generator
from favor.statistics.bootstrap import influences

EXACT = 24  # authors of whom every pattern of signs is counted: 16.8 million
FLIPS = 19_999  # patterns drawn for more: p is 1/20,000 or more, which passes Holm's correction of 1,000 tests at .05
_ROUNDING = 1e-9  # sums that are this near, as a share of all that is summed, are equal
_NOTHING = 1e-12  # below it a share is the last bit of a difference of equal numbers


def least_p(authors: int) -> float:
    """Return the least p that :func:`sign_flip_p` gives for so many authors."""
    return 2.0 ** (1 - authors) if authors <= EXACT else 1.0 / (1 + FLIPS)


def sign_flip_p(shares: np.ndarray, seed: int) -> float:
    """Return the two-sided p of the sum of ``shares`` [authors], each author's part of a difference.

    Exact for at most ``EXACT`` authors; beyond, (1 + hits) / (1 + FLIPS) over patterns that ``seed`` draws (Davison and
    Hinkley 1997, 4.2). 1 where nothing differs; NaN where a share is unknown or there are fewer than two.
    """
    if len(shares) < 2 or not np.isfinite(shares).all():
        return float("nan")
    shares = np.where(np.abs(shares) < _NOTHING, 0.0, shares)
    rounding = _ROUNDING * float(np.abs(shares).sum())
    bound = abs(float(shares.sum())) - rounding
    if bound <= 0:
        return 1.0
    if len(shares) > EXACT:
        hits = int((np.abs(_signs(len(shares), seed) @ shares) >= bound).sum())
        return (1 + hits) / (1 + FLIPS)
    # Each sum is one of the first half's and one of the second's, which are in order: no list of all of them.
    first, second = (_sums(half) for half in np.array_split(shares, 2))
    second.sort()
    above = len(second) - np.searchsorted(second, bound - first, "left")
    return float(2 * above.sum() / 2.0 ** len(shares))  # turned round, a pattern is as far from 0 on the other side


def author_sums(differences: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """Return the shares [clusters] in a mean of ``differences`` [n] of outputs: each author's sum.

    Turned round, a sum is what the mean would be of, had the author's outputs changed places between the methods.
    """
    return np.bincount(cluster, weights=differences, minlength=clusters)


def linear_shares(differences: np.ndarray, counts: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the shares [clusters] in a difference that is not a mean, such as that of two AUCs.

    differences: [1 + draws], the observed one first. counts: [1 + draws, clusters], how often a draw takes each author.
    outputs: [clusters], how many an author has.

    The share is the author's influence (:func:`favor.statistics.bootstrap.influences`) and its part of the observed
    difference, by outputs; an author without any has none. Of a mean of equally many outputs of each author, it is the
    author's own mean difference.
    """
    known = np.isfinite(differences)
    if not known[0] or known.sum() < 2 or not outputs.any():
        return np.full(counts.shape[1], np.nan)
    return influences(differences, counts, outputs > 0) + differences[0] * outputs / outputs[outputs > 0].mean()


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of ``values`` under every pattern of signs, [2^n]."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


@lru_cache(maxsize=2)
def _signs(authors: int, seed: int) -> np.ndarray:
    generator = numpy_generator(seed, "sign flips", authors)
    return generator.integers(0, 2, size=(FLIPS, authors), dtype=np.int8) * np.int8(2) - np.int8(1)
