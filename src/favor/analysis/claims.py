"""What may be said of a measured value: that a difference is shown, that it is ruled out, or that it is open.

Shown: the p, by Holm's correction over its family, is below .05. Ruled out: the 95 % interval lies within a margin, by
Holm's correction too. Open: all else, and the smallest value that would have been found says how much that means. A
sentence that no test found is no sentence about what is: whatever the report says in words is made from here.
"""

import math
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from favor.statistics.bootstrap import student_limit
from favor.statistics.paired import holm
from favor.statistics.power import LEVEL, detectable, least_authors

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
    return 2 * float(student_t.sf(abs(value - reference) / half * quantile, authors - 1))


def p_of_rate(value: float, low: float, high: float, reference: float, authors: int) -> float:
    """Return the two-sided p of the score test of a rate against ``reference``, which its Wilson's limits agree with.

    So many decisions as would have these limits (:func:`decisions`) scatter around ``reference`` by its own variance.
    """
    trials = decisions(value, low, high, authors)
    if not trials > 0:
        return math.nan
    distance = abs(value - reference) / math.sqrt(reference * (1 - reference) / trials)
    return 2 * float(student_t.sf(distance, authors - 1))


def decisions(value: float, low: float, high: float, authors: int) -> float:
    """Return for how many independent decisions a rate has the 95 % Wilson limits ``low`` and ``high``.

    With k = t^2 / n and h half of their distance, h^2 (1 + k)^2 = k value (1 - value) + k^2 / 4. NaN without limits.
    """
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0 or authors < 2:
        return math.nan
    # The root between 0 and where the limits would be 0 and 1.
    roots = np.roots([half**2 - 0.25, 2 * half**2 - value * (1 - value), half**2])
    found = [float(root.real) for root in roots if abs(root.imag) < 1e-9 and root.real > 0]
    return student_limit(authors - 1) ** 2 / min(found) if found else math.nan


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


def rates_above(rates: pd.DataFrame, reference: float | pd.Series, authors: int) -> pd.DataFrame:
    """Return :func:`settle` of rates against ``reference``, and ``found``: the rate that would have been found.

    rates: columns value, low, high, and share_high with share: the share of a voice that is kept and its upper limit,
    and ``margin``, below which it is ruled out; NaN without.
    """
    known = pd.Series(reference, index=rates.index) if isinstance(reference, float) else reference
    cells = list(zip(rates["value"], rates["low"], rates["high"], known, strict=True))
    p = pd.Series([p_of_rate(*cell, authors) for cell in cells], index=rates.index, dtype=float)
    beyond = pd.Series(
        [
            p_of_limits(share, math.nan, high, margin, authors) if share < margin else math.nan
            for share, high, margin in zip(rates["share"], rates["share_high"], rates["margin"], strict=True)
        ],
        index=rates.index,
        dtype=float,
    )
    made = settle(p, beyond, rates["value"] - known, authors)
    tests = max(1, int(p.notna().sum()))
    errors = [math.sqrt(at * (1 - at) / decisions(value, low, high, authors)) for value, low, high, at in cells]
    return made.assign(found=known + detectable(authors, tests) * math.sqrt(authors) * np.array(errors))


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
