"""What may be said of a measured value: that a difference is shown, that it is ruled out, or that it is open.

Shown: the p, by Holm's correction over its family, is below .05. Ruled out: the 95 % interval lies within a margin, by
Holm's correction too. Open: all else, and the smallest value that would have been found says how much that means. A
sentence about what no test found is not a sentence about what is: whatever the report says in words is made from here.
"""

import math
from typing import Literal

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import betainc, ndtri, stdtr, stdtrit

from favor.statistics.bootstrap import student_limit, wilson
from favor.statistics.paired import holm
from favor.statistics.power import LEVEL, least_authors

State = Literal["above", "below", "ruled out", "open"]


def p_of_limits(value: float, low: float, high: float, reference: float, authors: int) -> float:
    """Return the two-sided p at which an interval ends at ``reference``: t of the distance by the half on that side.

    ``low`` and ``high`` are 95 % limits over ``authors``. NaN without limits; 1 where nothing differs.
    """
    half = high - value if reference > value else value - low
    if not math.isfinite(half) or authors < 2:
        return math.nan
    if half <= 0:
        return 1.0 if value == reference else 0.0
    quantile = student_limit(authors - 1)
    return 2 * float(stdtr(authors - 1, -abs(value - reference) / half * quantile))


def p_of_rate(value: float, low: float, high: float, reference: float, authors: int) -> float:
    """Return the two-sided p of a rate with 95 % limits ``low`` and ``high`` against ``reference``.

    The larger of two tests of so many decisions as have the limit on that side (:func:`decisions`): the score test,
    which agrees with the limits, and the binomial test (Korn and Graubard 1998) by its mid-p (Lancaster 1961). Both
    take Student's t for the normal distribution. The score test alone has no skewness, and finds rates at a chance of 1
    in 50 too often. A limit that what seeds do would put beyond 0 or 1 is cut there and says no number of decisions:
    ``reference`` lies within the limits, and p is that by the other limit, .05 or more.
    """
    if math.isnan(low) or authors < 2:
        return math.nan
    beside, other = (low, high) if value >= reference else (high, low)
    if 0 < beside < 1:
        return _p_of_trials(value, decisions(value, beside, authors), reference, authors)
    return max(_p_of_trials(value, decisions(value, other, authors), reference, authors), LEVEL)


def _p_of_trials(value: float, trials: float, reference: float, authors: int) -> float:
    if not trials > 0:
        return 1.0
    distance = abs(value - reference) / math.sqrt(reference * (1 - reference) / trials)
    at, hits = (reference, trials * value) if value >= reference else (1 - reference, trials * (1 - value))
    # P(X >= x) of a binomial distribution, for any x and n: the incomplete beta function.
    beyond = float(betainc(hits, trials - hits + 1, at))
    beyond += float(betainc(hits + 1, trials - hits, at)) if hits < trials else 0.0
    return 2 * float(stdtr(authors - 1, -min(distance, max(0.0, -ndtri(beyond / 2)))))


def decisions(value: float, limit: float, authors: int) -> float:
    """Return of how many independent decisions a rate has the 95 % Wilson limit ``limit``.

    (limit - value)^2 = t^2 limit (1 - limit) / n. NaN without a limit, or for one that is cut at 0 or 1.
    """
    if not 0 < limit < 1 or limit == value or authors < 2:
        return math.nan
    return student_limit(authors - 1) ** 2 * limit * (1 - limit) / (limit - value) ** 2


def rate_found(trials: float, reference: float, authors: int, tests: int) -> float:
    """Return the rate above ``reference`` that so many decisions find in four of five runs at Holm's first step.

    1 where none is, NaN without decisions. That the number of decisions is an estimate costs power: a rate that would
    be found in .9 of runs with a known number was found in .8 of simulated ones.
    """
    if math.isnan(trials) or _p_of_trials(1.0, trials, reference, authors) >= LEVEL / tests:
        return 1.0 if trials > 0 else math.nan
    least = float(
        brentq(lambda rate: _p_of_trials(rate, trials, reference, authors) - LEVEL / tests, reference + 1e-9, 1.0)
    )
    below = float(stdtrit(authors - 1, 0.9))
    return float(brentq(lambda rate: rate - below * math.sqrt(rate * (1 - rate) / trials) - least, least, 1.0))


def settle(p: pd.Series, beyond: pd.Series, signs: pd.Series, authors: int) -> pd.DataFrame:
    """Return columns p (Holm's), within (the margin, by Holm) and state of a family, by its index.

    p: of every difference. beyond: of the bounds of its margin, NaN where there are none. signs: of the differences.
    With fewer ``authors`` than show anything in a single test everything is open.
    """
    corrected = pd.Series(holm(p.to_numpy(dtype=float)), index=p.index)
    within = pd.Series(holm(beyond.to_numpy(dtype=float)), index=p.index) < LEVEL
    enough = authors >= least_authors(1)
    states: list[State] = []
    for found, inside, sign in zip(corrected, within, signs, strict=True):
        if enough and found < LEVEL:
            states.append("above" if sign > 0 else "below")
        else:
            states.append("ruled out" if enough and inside else "open")
    return pd.DataFrame({"p": corrected, "within": within & enough, "state": states}, index=p.index)


Rate = tuple[float, float, float]  # value and 95 % Wilson limits


def rates_above(
    rates: pd.DataFrame,
    reference: float | pd.Series,
    authors: int,
    ceiling: Rate | None = None,
    margin: float = math.nan,
) -> pd.DataFrame:
    """Return :func:`settle` of rates against ``reference``, and ``found``: the rate that would have been found.

    rates: columns value, low and high. Ruled out: ``margin`` or more of the way from ``reference`` to the ``ceiling``.
    """
    known = pd.Series(reference, index=rates.index) if isinstance(reference, float) else reference
    cells = list(zip(rates["value"], rates["low"], rates["high"], known, strict=True))
    p = pd.Series([p_of_rate(*cell, authors) for cell in cells], index=rates.index, dtype=float)
    beyond = [p_of_share((*cell,), ceiling, at, margin, authors) if ceiling else math.nan for *cell, at in cells]
    made = settle(p, pd.Series(beyond, index=rates.index, dtype=float), rates["value"] - known, authors)
    tests = max(1, int(p.notna().sum()))
    of_limits = [(decisions(value, low, authors), decisions(value, high, authors)) for value, low, high, _ in cells]
    trials = [float(np.fmin(*both)) for both in of_limits]
    found = [rate_found(number, at, authors, tests) for number, at in zip(trials, known, strict=True)]
    return made.assign(found=found)


def p_of_share(rate: Rate, ceiling: Rate, floor: float, margin: float, authors: int) -> float:
    """Return the two-sided p of a rate that lies less than ``margin`` of the way from ``floor`` to ``ceiling``.

    NaN where it does not, or without limits. The p is that of the level at which the upper limit of value - margin
    ceiling meets what it is there, by the distances of Wilson's limits of both, in squares (Zou and Donner 2008): far
    out such a limit moves by more than t, which the 95 % limit of the share does not know.
    """
    trials = decisions(rate[0], rate[2], authors), decisions(ceiling[0], ceiling[1], authors)
    below = floor + margin * (ceiling[0] - floor) - rate[0]
    if not (below > 0 and all(number > 0 for number in trials)):
        return math.nan

    def left(t: float) -> float:
        up = wilson(rate[0], trials[0], t)[1] - rate[0]
        return below - math.hypot(up, margin * (ceiling[0] - wilson(ceiling[0], trials[1], t)[0]))

    most = 100.0
    return 2 * float(stdtr(authors - 1, -(most if left(most) > 0 else float(brentq(left, 0.0, most)))))


def differences_apart(differences: pd.DataFrame, margin: float, authors: int) -> pd.DataFrame:
    """Return :func:`settle` of paired differences; ruled out: one as large as ``margin``, on either side.

    differences: columns delta, low, high and the p of each. ``margin``: NaN where there is none.
    """
    beyond = [
        max(p_of_limits(*cell, end, authors) for end in (-margin, margin)) if abs(cell[0]) < margin else math.nan
        for cell in zip(differences["delta"], differences["low"], differences["high"], strict=True)
    ]
    family = pd.Series(beyond, index=differences.index, dtype=float)
    return settle(differences["p"].astype(float), family, differences["delta"], authors)
