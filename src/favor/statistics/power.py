"""How small a difference the paired tests of the tables find, before anything is run.

The tests are :func:`favor.statistics.sign_flips.sign_flip_p` over authors and Holm's correction over the family of one
column. A difference that stands alone among ``tests`` is found where its p is below ``LEVEL / tests``: Holm's first
step. Authors' differences are taken as normal; those of a rate as normal and rounded to what so many decisions of an
author can differ by, because differences of 0 show nothing, and equal sums count against the observed one. With few
authors the sign-flip test itself is asked, beyond ``COUNTED`` the paired t-test, which finds nearly as much.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from scipy.stats import t as student_t

from favor.foundation.seeds import numpy_generator
from favor.statistics.sign_flips import least_p

LEVEL = 0.05  # of a family of tests, as tables mark it
POWER = 0.8
COUNTED = 14  # authors up to whom every pattern of signs is counted
_RUNS = 2000  # draws of authors' differences: a power of .8 is known to .009
_RATE_RUNS, _HALVINGS = 500, 10  # of draws, and of the range in which the effect on a rate is looked for
_DRAWN = 1000  # authors whose rates are drawn; with more, the effect falls with the square root of their number
_QUANTILES = (np.arange(4000) + 0.5) / 4000


@dataclass(frozen=True)
class Component:
    """A variance of the difference between two methods, and the numbers of a design that average it out.

    kind: what it is between, such as "authors". averaged_over: names of a design's numbers, such as "seeds", whose
    product divides it within an author; empty for what differs between authors themselves.
    """

    kind: str
    variance: float
    averaged_over: tuple[str, ...] = ()


def least_authors(tests: int) -> int:
    """Return the fewest authors N with whom any difference can be told apart: 2 / 2^N is below the level over tests."""
    return next(authors for authors in range(2, 64) if 2.0 ** (1 - authors) * tests < LEVEL)


@lru_cache(maxsize=64)
def _found_from(authors: int, patterns: int) -> np.ndarray:
    """Return in rising order from which effect on each of ``_RUNS`` draws of authors is found: [runs].

    With x the authors' differences without the effect e, the pattern that turns the signs of a set F of authors has a
    sum as large as the observed one where 2 (sum over F of x + e) <= 0. At most ``patterns`` may have, the observed
    one among them: so e must be above minus the ``patterns``-th lowest mean of x over a set.
    """
    sets = _sets(authors)
    sets = sets / sets.sum(axis=1, keepdims=True)
    parts = np.array_split(_draws(authors, _RUNS), 40)
    lowest = [np.partition(part @ sets.T, patterns - 1, axis=1)[:, patterns - 1] for part in parts]
    return np.sort(-np.concatenate(lowest))


@lru_cache(maxsize=1)
def _draws(authors: int, runs: int) -> np.ndarray:
    return numpy_generator(0, "power of the sign-flip test", authors).normal(size=(runs, authors))


def _sets(authors: int) -> np.ndarray:
    """Return every set of authors but the empty one, as 0 and 1: [2^N - 1, authors]."""
    return (np.arange(1, 2**authors)[:, None] >> np.arange(authors) & 1).astype(np.float64)


def power_of_rate(effect: float, authors: int, tests: int, step: float) -> float:
    """Return :func:`power` where authors' differences are multiples of ``step``, in their standard deviations.

    Sums of whole numbers are equal often, and are an even number apart when signs turn: beyond ``COUNTED`` authors the
    t-test takes 1 off the sum, half of that.
    """
    if least_p(authors) * tests >= LEVEL:
        return 0.0
    whole = np.rint((_draws(authors, _RATE_RUNS) + effect) / step)
    total = whole.sum(axis=1)
    if authors <= COUNTED:
        turned = (whole * np.sign(total)[:, None]).astype(np.float32)
        sets = _sets(authors).astype(np.float32).T
        as_far = np.concatenate([(part @ sets <= 0).sum(axis=1) for part in np.array_split(turned, 10)])
        return float(np.mean((1 + as_far) * 2.0 ** (1 - authors) * tests < LEVEL))
    spread = whole.std(axis=1, ddof=1) * math.sqrt(authors)
    bound = float(student_t.isf(LEVEL / tests / 2, authors - 1))
    return float(np.mean(np.abs(total) - 1 > bound * spread))


def power(effect: float, authors: int, tests: int) -> float:
    """Return how often a mean difference of ``effect`` standard deviations of the authors' differences is found.

    Of the t-test: P(|T| > t), T noncentral of N - 1 degrees of freedom, which is normal given the estimated deviation,
    averaged over that.
    """
    if least_p(authors) * tests >= LEVEL:
        return 0.0
    if authors <= COUNTED:
        found = _found_from(authors, math.ceil(LEVEL / tests * 2 ** (authors - 1)) - 1)
        return float(np.searchsorted(found, effect) + np.searchsorted(found, -effect)) / _RUNS
    freedom = authors - 1
    bound = student_t.isf(LEVEL / tests / 2, freedom) * np.sqrt(chi2.ppf(_QUANTILES, freedom) / freedom)
    shift = effect * math.sqrt(authors)
    return float((norm.cdf(shift - bound) + norm.cdf(-shift - bound)).mean())


@lru_cache(maxsize=64)
def detectable(authors: int, tests: int, step: float = 0.0, wanted: float = POWER) -> float:
    """Return the smallest effect that is found with power ``wanted``, in standard deviations of authors' differences.

    ``step``: of a rate, by what two authors' differences differ at least. Infinite where no difference can be found,
    however large.
    """
    if least_p(authors) * tests >= LEVEL:
        return math.inf
    most = 1.0
    while power(most, authors, tests) < wanted:
        most *= 2
    if step and authors > _DRAWN:
        return detectable(_DRAWN, tests, step, wanted) * math.sqrt(_DRAWN / authors)
    if step:
        low, high = 0.0, 2 * most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if power_of_rate(middle, authors, tests, step) >= wanted else (middle, high)
        return high
    return float(brentq(lambda effect: power(effect, authors, tests) - wanted, 0.0, most, xtol=1e-6))


def variance_of_author(components: tuple[Component, ...], design: Mapping[str, int]) -> float:
    """Return the variance of an author's mean difference in a design; negative estimates count as 0."""
    return sum(
        max(0.0, component.variance) / math.prod(design[name] for name in component.averaged_over)
        for component in components
    )


def authors_for(effect: float, tests: int, most: int = 1_000_000) -> int | None:
    """Return the fewest authors with whom ``effect`` is found; None where even ``most`` are too few."""
    low, high = 1, max(2, least_authors(tests))
    while detectable(high, tests) > effect:
        if high >= most:
            return None
        low, high = high, min(most, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if detectable(middle, tests) <= effect else (middle, high)
    return high


def number_for(components: tuple[Component, ...], design: Mapping[str, int], name: str, wanted: float) -> int | None:
    """Return how large the number ``name`` of a design must be for an author's variance to be ``wanted``, or less.

    None where no number suffices: what it does not average out is larger.
    """
    fixed = variance_of_author(tuple(each for each in components if name not in each.averaged_over), design)
    falling = tuple(each for each in components if name in each.averaged_over)
    per_one = variance_of_author(falling, {**design, name: 1})
    if fixed >= wanted:
        return None
    return max(1, math.ceil(per_one / (wanted - fixed) - 1e-9))


def uncertainty(authors: int) -> tuple[float, float]:
    """Return the 95 % interval of a standard deviation that was estimated from so many authors, as shares of it."""
    freedom = authors - 1
    low, high = chi2.ppf([0.975, 0.025], freedom)
    return math.sqrt(freedom / low), math.sqrt(freedom / high)
