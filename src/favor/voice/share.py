"""Where texts lie between other authors (0) and an author's own held-out texts (1), with limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from favor.foundation.seeds import derive_seed
from favor.statistics.bootstrap import mean_draws, observed_and_resampled
from favor.statistics.kept_share import KeptShare, kept_share

DRAWS = 2000


def voice_share(texts: np.ndarray, own: np.ndarray, others: Sequence[np.ndarray], seed: int) -> KeptShare:
    """Return (mean of texts - floor) / (ceiling - floor) with its 95 % interval.

    ``texts`` [units]: one score per text, or per passage of a single one. ``own`` [passages]: the author's held-out
    passages, whose mean is the ceiling. ``others``: the passages of each contrast author, the mean of whose means is
    the floor. Texts, own passages and contrast authors are drawn independently. Student's degrees of freedom are those
    of the smallest of the three groups. There is no share where floor and ceiling are not apart.
    """
    groups = texts, own, np.array([passages.mean() for passages in others])
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
