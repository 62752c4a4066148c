"""Where a score lies between a floor and a ceiling, with the interval of one bootstrap over all three."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from favor.statistics.bootstrap import interval


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


def kept_share(score: np.ndarray, floor: np.ndarray, ceiling: np.ndarray, clusters: int) -> KeptShare:
    """Return the share of arrays [1 + draws]: the observed value, then its value in every draw of ``clusters``.

    There is none where the 95 % interval of ceiling - floor reaches 0: a share of a range that may be empty says
    nothing. The few draws in which the ceiling does not exceed the floor are left out of the interval.
    """
    nan = float("nan")
    ends = interval(score[1:], clusters) if np.isfinite(score[1:]).any() else (nan, nan)
    seen = float(score[0]), *ends, float(floor[0]), float(ceiling[0])
    values = {"score": score[0], "floor": floor[0], "ceiling": ceiling[0]}
    absent = [name for name, value in values.items() if not np.isfinite(value)]
    if absent:
        return KeptShare(nan, nan, nan, *seen, reason=f"no value of the {', the '.join(absent)}")
    span = ceiling - floor
    low, high = interval(span[1:], clusters) if np.isfinite(span[1:]).any() else (nan, nan)
    if not low > 0:
        reason = f"ceiling and floor are not apart: {span[0]:+.3f}, 95 % interval [{low:.3f}, {high:.3f}]"
        return KeptShare(nan, nan, nan, *seen, reason=reason)
    shares = np.divide(score - floor, span, out=np.full(len(span), np.nan), where=span > 0)
    return KeptShare(float(shares[0]), *interval(shares[1:], clusters), *seen)
