"""The ROC curve of scored pairs: equal error rates, and AUC and EER of more pairs than memory holds, block by block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

Block = tuple[np.ndarray, np.ndarray]  # scores in [-1, 1], and whether each is of the positive class
BINS = 1 << 16
HELD = 1 << 20  # scores near the equal error rate that are held at once
Level = tuple[float, float, "int | None"]  # lowest score, bins per unit, and the bin that the next level divides


@dataclass(frozen=True)
class Roc:
    """The ROC curve as whole numbers.

    At every distinct threshold, from above every score down to the lowest: how many of the ``negatives`` are accepted
    (``false`` [k]) and how many of the ``positives`` are missed (``missed`` [k]). A pair is accepted where its score is
    at least the threshold.
    """

    false: np.ndarray
    missed: np.ndarray
    negatives: int
    positives: int

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray) -> Roc:
        """Return the curve of pairs of both classes."""
        counts = np.stack([~positive, positive]).astype(np.int64)
        return cls.between(scores, counts, np.zeros(2, dtype=np.int64), counts.sum(axis=1))

    @classmethod
    def between(cls, scores: np.ndarray, counts: np.ndarray, above: np.ndarray, total: np.ndarray) -> Roc:
        """Return the part of a curve with the thresholds ``scores`` [n] and the next one above them.

        Of both classes, negatives first: ``counts`` [2, n] how many pairs have each score, ``above`` [2] how many have
        higher ones than all of these, ``total`` [2] how many there are.
        """
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        steps = np.cumsum(counts[:, order], axis=1)[:, last]
        accepted = above[:, None] + np.concatenate([np.zeros((2, 1), dtype=np.int64), steps], axis=1)
        return cls(accepted[0], total[1] - accepted[1], int(total[0]), int(total[1]))

    @property
    def gap(self) -> np.ndarray:
        """FNR - FPR times positives * negatives, int64 [k]: falls from positives * negatives to its negative."""
        return self.missed * self.negatives - self.false * self.positives

    @property
    def nearest(self) -> int:
        """The threshold at which both rates are nearest; of several, the highest."""
        return int(np.argmin(np.abs(self.gap)))

    def equal_error_rate(self, interpolated: bool = False) -> float:
        """Equal error rate, correctly rounded, of pairs of both classes.

        Default: the mean of false positive and false negative rate at the threshold of the full ROC where they are
        nearest. Where two thresholds are equally near, which is common in small samples, the higher one counts. Counts
        are compared and not quotients, for rounding would decide such ties. ``interpolated``: where the straight lines
        between ROC points meet the line FPR = FNR. The thresholds on either side of that line are all that is needed.
        """
        # Python's integers from here on: they do not overflow, and their quotient is the nearest float.
        if not interpolated:
            missed, false = (int(counts[self.nearest]) for counts in (self.missed, self.false))
            errors = missed * self.negatives + false * self.positives
            return errors / (2 * self.positives * self.negatives)
        after = int(np.argmax(self.gap <= 0))
        above, below = (int(self.gap[place]) for place in (after - 1, after))
        start, end = (int(self.false[place]) for place in (after - 1, after))
        return (start * (above - below) + above * (end - start)) / ((above - below) * self.negatives)


@dataclass(frozen=True)
class Separation:
    """How well scores tell positives from negatives: AUC, EER and interpolated EER (NaN without both classes)."""

    auc: float
    eer: float
    interpolated_eer: float
    positives: int
    negatives: int

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.positives + self.negatives


def separation(blocks: Callable[[], Iterable[Block]]) -> Separation:
    """Measure pairs that ``blocks()`` gives in blocks, the same ones at every call.

    The values are those of all pairs at once (:func:`favor.statistics.bootstrap.auc`, :meth:`Roc.equal_error_rate`), in
    every bit. Memory holds one block, the positives' scores and :data:`HELD` others. The blocks are gone through twice:
    to count scores in bins of [-1, 1], and to compare those of bins that hold both classes and of the bin in which
    FNR = FPR. Where that one holds too many, it is divided into bins first. Blocks of up to :data:`HELD` pairs in all
    are asked for once.
    """
    whole: Level = (-1.0, BINS / 2.0, None)
    positive_scores: list[np.ndarray] = []
    counts = np.zeros((2, BINS), dtype=np.int64)
    held: list[Block] = []
    for scores, positive in blocks():
        positive_scores.append(scores[positive])
        counts += _counted(scores, positive, whole)
        if counts.sum() <= HELD:
            held.append((scores, positive))
        else:
            held.clear()
    again = (lambda: held) if counts.sum() <= HELD else blocks
    total, above = counts.sum(axis=1), np.zeros(2, dtype=np.int64)
    negatives, positives = map(int, total)
    if not (negatives and positives):
        return Separation(math.nan, math.nan, math.nan, positives, negatives)
    mixed = (counts[0] > 0) & (counts[1] > 0)
    higher = positives - np.cumsum(counts[1])
    double_wins = 2 * int((counts[0] * higher)[~mixed].sum())
    levels: list[Level] = []
    low, scale, _ = whole
    while True:
        # The first bin at whose lower end FNR <= FPR.
        accepted = above[:, None] + np.cumsum(counts[:, ::-1], axis=1)
        reached = (positives - accepted[1]) * negatives <= accepted[0] * positives
        place = BINS - 1 - int(np.argmax(reached))
        above = above + counts[:, place + 1 :].sum(axis=1)
        levels.append((low, scale, place))
        # Four levels take any two numbers apart: what is left are equal ones.
        if counts[:, place].sum() <= HELD or len(levels) == 4:
            break
        low, scale = low + place / scale, scale * BINS
        counts = np.zeros((2, BINS), dtype=np.int64)
        for scores, positive in again():
            inside = _inside(scores, levels)
            counts += _counted(scores[inside], positive[inside], (low, scale, None))
    ordered = np.sort(np.concatenate(positive_scores))
    nearby: list[tuple[np.ndarray, np.ndarray]] = []
    for scores, positive in again():
        rivals = scores[~positive & mixed[_bins(scores, whole)]]
        beaten = np.searchsorted(ordered, rivals, "left") + np.searchsorted(ordered, rivals, "right")
        double_wins += 2 * positives * len(rivals) - int(beaten.sum())
        inside = _inside(scores, levels)
        values, place_of = np.unique(scores[inside], return_inverse=True)
        tallies = [np.bincount(place_of[own[inside]], minlength=len(values)) for own in (~positive, positive)]
        nearby.append((values, np.stack(tallies)))
    values, tallies_ = (np.concatenate(parts, axis=-1) for parts in zip(*nearby, strict=True))
    curve = Roc.between(values, tallies_, above, total)
    auc = double_wins / (2 * positives * negatives)
    return Separation(auc, curve.equal_error_rate(), curve.equal_error_rate(True), positives, negatives)


def _bins(scores: np.ndarray, level: Level) -> np.ndarray:
    """Return the bin of every score: higher scores are in no lower bins, whatever the rounding."""
    return np.clip((scores - level[0]) * level[1], 0, BINS - 1).astype(np.int64)


def _counted(scores: np.ndarray, positive: np.ndarray, level: Level) -> np.ndarray:
    """Return how many negatives and positives are in every bin: int64 [2, bins]."""
    bins = _bins(scores, level)
    return np.stack([np.bincount(bins[own], minlength=BINS) for own in (~positive, positive)])


def _inside(scores: np.ndarray, levels: Sequence[Level]) -> np.ndarray:
    """Return the places of the scores in the bins of all levels."""
    places = np.arange(len(scores))
    for level in levels:
        places = places[_bins(scores[places], level) == level[2]]
    return places
