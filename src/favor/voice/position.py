"""Where texts lie between other authors (0) and an author's own held-out texts (1), with limits."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from favor.foundation.seeds import derive_seed
from favor.statistics.bootstrap import RATE, Bounds, auc_draws, interval, mean_draws, observed_and_resampled
from favor.statistics.kept_share import KeptShare, kept_share
from favor.tables.escape import minus

DRAWS = 2000
UNITS = 3  # texts or passages that an interval is over, at least


def voice_position(
    texts: Sequence[np.ndarray],
    own: Sequence[np.ndarray],
    others: Sequence[np.ndarray],
    seed: int,
    few: str = f"an interval needs {UNITS} passages of 50 words; give a longer text, or several",
) -> KeptShare:
    """Return (mean of texts - floor) / (ceiling - floor) with its 95 % interval.

    ``texts``: the scores of each unit, one array per unit: a document has one score per text, a passage has one.
    ``own``: the held-out passages of each of the author's texts, the mean of whose means is the ceiling: a long text
    counts as much as a short one. ``others``: the passages of each contrast author, the mean of whose means is the
    floor. Units, own texts and contrast authors are drawn independently, each whole, because passages of one text are
    alike. Student's degrees of freedom are those of the smallest of the three groups, and for ceiling - floor those of
    the smaller of the two. There is no share of fewer than ``UNITS`` units (``few`` says why) or own texts, nor where
    floor and ceiling are not apart.
    """
    groups = texts, *([passages.mean(keepdims=True) for passages in group] for group in (own, others))
    scores = [np.concatenate(group) for group in groups]
    reason = ""
    if len(texts) < UNITS:
        reason = few
    elif len(own) < UNITS:
        reason = f"an interval needs {UNITS} held-out texts of the author's own, and there are {len(own)}; give more"
    if reason:
        nan, seen = math.nan, [float(values.mean()) for values in scores]
        return KeptShare(nan, nan, nan, seen[0], nan, nan, seen[2], seen[1], reason)
    score, ceiling, floor = (
        mean_draws(
            values,
            np.repeat(np.arange(len(group)), [len(each) for each in group]),
            observed_and_resampled(len(group), derive_seed(seed, "voice", name), DRAWS),
        )
        for name, group, values in zip(("texts", "ceiling", "floor"), groups, scores, strict=True)
    )
    fewest, apart = min(len(own), len(others)), "the author's own texts and the others'"
    return kept_share(score, floor, ceiling, min(len(texts), fewest), apart=apart, of_ceiling=fewest)


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
