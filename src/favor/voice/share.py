"""Where texts lie between other authors (0) and an author's own held-out texts (1), with limits."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from favor.foundation.seeds import derive_seed
from favor.statistics.bootstrap import (
    RATE,
    Bounds,
    auc_draws,
    interval,
    mean_draws,
    observed_and_resampled,
)
from favor.statistics.kept_share import KeptShare, kept_share
from favor.tables.escape import minus

DRAWS = 2000
UNITS = 3  # texts or passages that an interval is over, at least


def voice_share(texts: np.ndarray, own: np.ndarray, others: Sequence[np.ndarray], seed: int) -> KeptShare:
    """Return (mean of texts - floor) / (ceiling - floor) with its 95 % interval.

    ``texts`` [units]: one score per text, or per passage of a single one. ``own`` [passages]: the author's held-out
    passages, whose mean is the ceiling. ``others``: the passages of each contrast author, the mean of whose means is
    the floor. Texts, own passages and contrast authors are drawn independently. Student's degrees of freedom are those
    of the smallest of the three groups. There is no share of fewer than ``UNITS`` scores, nor where floor and ceiling
    are not apart.
    """
    groups = texts, own, np.array([passages.mean() for passages in others])
    if len(texts) < UNITS:
        nan, seen = math.nan, [float(group.mean()) for group in groups]
        reason = f"an interval needs {UNITS} passages of 50 words; give a longer text, or several"
        return KeptShare(nan, nan, nan, seen[0], nan, nan, seen[2], seen[1], reason)
    score, ceiling, floor = (
        mean_draws(
            values, np.arange(len(values)), observed_and_resampled(len(values), derive_seed(seed, "voice", name), DRAWS)
        )
        for name, values in zip(("texts", "ceiling", "floor"), groups, strict=True)
    )
    return kept_share(score, floor, ceiling, min(map(len, groups)), apart="the author's own texts and the others'")


def percentile(score: float, reference: np.ndarray) -> float:
    """Return which share of ``reference`` lies below ``score``, ties half."""
    return float(((reference < score).mean() + (reference <= score).mean()) / 2)


class Measured(NamedTuple):
    """A value with its 95 % interval; NaN where there is too little to say."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        """Return value and interval, rounded; a dash where there is none."""
        shown = [f"{number:.{digits}f}" if math.isfinite(number) else "–" for number in self]
        return minus(f"{shown[0]} [{shown[1]}, {shown[2]}]")


def measured(draws: np.ndarray, clusters: int, bounds: Bounds | None = None) -> Measured:
    """Return the value ``draws[0]`` with the interval that the other draws give it."""
    return Measured(float(draws[0]), *interval(draws, clusters, bounds))


def told_apart(higher: np.ndarray, others: Sequence[np.ndarray], seed: int) -> Measured:
    """Return how often a score of ``higher`` [n] is above one of ``others``, ties half (AUC): 0.5 is chance.

    ``others``: scores by group. Scores of ``higher`` and groups of ``others`` are drawn independently; degrees of
    freedom are those of the smaller number.
    """
    number, groups = len(higher), len(others)
    if not (number and groups):
        return Measured(math.nan, math.nan, math.nan)
    counts = [
        observed_and_resampled(size, derive_seed(seed, "told apart", name), DRAWS)
        for name, size in (("higher", number), ("others", groups))
    ]
    scores = np.concatenate([higher, *others])
    cluster = np.concatenate([np.arange(number), number + np.repeat(np.arange(groups), [len(own) for own in others])])
    draws = auc_draws(scores, np.arange(len(scores)) < number, cluster, np.concatenate(counts, axis=1))
    return measured(draws, min(number, groups), RATE)
