"""Ratios with limits: where a score lies between nothing and a ceiling, and how much is left of a variance."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from favor.statistics.bootstrap import Bounds, by_seed, interval, mean_over_seeds, student_limits


class Limits(NamedTuple):
    """The ends of a 95 % interval."""

    low: float
    high: float


NOT_KNOWN = Limits(math.nan, math.nan)


@dataclass(frozen=True)
class KeptShare:
    """(score - floor) / (ceiling - floor) with its 95 % interval, and the score with its own.

    If a share cannot be computed, ``reason`` says why, and the share and its interval are NaN.
    """

    share: float
    low: float
    high: float
    score: float
    score_low: float
    score_high: float
    floor: float
    ceiling: float
    reason: str = ""


def ratio_limits(top: np.ndarray, bottom: np.ndarray, of_top: Limits, of_bottom: Limits) -> Limits:
    """Return the 95 % limits of ``top[0] / bottom[0]``; NaN where the interval of ``bottom`` reaches 0.

    top, bottom: [1 + draws], the observed value first; one array over itself is 1. of_top, of_bottom: their own limits.

    The interval holds every ratio r for which top - r bottom may be 0 (Fieller 1954): with a and b the distances of the
    limits of top and bottom from the values, and c the correlation of their draws, it ends at the roots of
    (top - r bottom)^2 = a^2 - 2 c r a b + (r b)^2. Where limits are not symmetric, the lower end takes the lower limit
    of top and the limit of bottom that makes the ratio smaller (Donner and Zou 2012).
    """
    if not (of_bottom.low > 0 and math.isfinite(of_top.low)):
        return NOT_KNOWN
    # Two that are as good in every draw, as where all of both are right, are not the same by definition.
    if top is bottom or (np.array_equal(top, bottom, equal_nan=True) and np.nanmin(top) < np.nanmax(top)):
        return Limits(1.0, 1.0)
    known = np.isfinite(top[1:]) & np.isfinite(bottom[1:])
    spreads = top[1:][known], bottom[1:][known]
    together = known.sum() > 1 and all(np.ptp(spread) > 1e-12 for spread in spreads)
    correlation = float(np.corrcoef(*spreads)[0, 1]) if together else 0.0
    over, under = float(top[0]), float(bottom[0])
    ends = []
    for sign, a in ((-1.0, over - of_top.low), (1.0, of_top.high - over)):
        b = of_bottom.high - under if (over >= 0) == (sign < 0) else under - of_bottom.low
        square = under**2 - b**2
        if square <= 0:
            return NOT_KNOWN
        middle = over * under - correlation * a * b
        ends.append((middle + sign * math.sqrt(max(0.0, middle**2 - square * (over**2 - a**2)))) / square)
    return Limits(*ends)


def kept_share(
    score: np.ndarray,
    floor: np.ndarray | float,
    ceiling: np.ndarray,
    clusters: int,
    bounds: Bounds | None = None,
    apart: str = "references",
    of_ceiling: int | None = None,
) -> KeptShare:
    """Return the share of arrays [1 + draws]: the observed value, then its value in every draw of ``clusters``.

    Or of arrays [seeds, 1 + draws]: of their means over seeds, with what seeds do (:func:`favor.statistics.bootstrap
    .interval`).

    ``floor``: a number that is known, or an array. ``bounds``: of the score (:func:`favor.statistics.bootstrap
    .interval`). There is none where the 95 % interval of ceiling - floor reaches 0: a share of a range that may be
    empty says nothing. ``apart`` names both in the reason. ``of_ceiling``: clusters of the ceiling, where it has more.
    """
    nan, below = math.nan, of_ceiling or clusters
    own = Limits(*interval(score, clusters, bounds))
    known = np.full_like(ceiling, floor) if isinstance(floor, float) else floor
    parts = {"score": score, "floor": known, "ceiling": ceiling}
    values = {name: float(mean_over_seeds(draws)[0]) for name, draws in parts.items()}
    seen = values["score"], *own, values["floor"], values["ceiling"]
    absent = [
        f"{name}{' in some seed' * bool(np.isfinite(parts[name][..., 0]).any())}"
        for name, value in values.items()
        if not np.isfinite(value)
    ]
    if absent:
        return KeptShare(nan, nan, nan, *seen, reason=f"no value of the {', the '.join(absent)}")
    bottom = by_seed(ceiling, known)
    top = bottom if score is ceiling else by_seed(score, known)
    if isinstance(floor, float) and bounds is not None:
        of_top, of_bottom = (Limits(*(end - floor for end in ends)) for ends in (own, interval(ceiling, below, bounds)))
    else:
        of_top, of_bottom = (Limits(*student_limits(*side)) for side in ((top, clusters), (bottom, below)))
    below_mean = mean_over_seeds(bottom)
    top_mean = below_mean if top is bottom else mean_over_seeds(top)
    ends = ratio_limits(top_mean, below_mean, of_top, of_bottom)
    if math.isnan(ends.low) and clusters < 2:
        return KeptShare(nan, nan, nan, *seen, reason="needs outputs of two authors")
    if math.isnan(ends.low):
        span = f"{below_mean[0]:+.3f}, 95 % interval [{of_bottom.low:.3f}, {of_bottom.high:.3f}]"
        return KeptShare(nan, nan, nan, *seen, reason=f"{apart} are not apart: {span}")
    return KeptShare(float(top_mean[0] / below_mean[0]), *ends, *seen)
