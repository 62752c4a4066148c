"""The measures of PAN's authorship verification task, over answers in [0, 1] (0.5: no answer)."""

import numpy as np

from favor.statistics.bootstrap import auc
from favor.statistics.roc import Roc

MEASURES = ("auc", "c@1", "f_05_u", "F1", "brier")


def pan_measures(truth: np.ndarray, answers: np.ndarray) -> dict[str, float]:
    """Return auc, c@1, f_05_u, F1 and brier of boolean ``truth`` [n] and ``answers`` [n], all best at 1.

    An answer above 0.5 says "same author", one below says "different", 0.5 none.

    - c@1 (Penas and Rodrigo 2011): (right + unanswered * right / n) / n.
    - f_05_u (Bevendorff et al. 2019): F_0.5 in which an unanswered pair counts as a false negative.
    - F1: of the answered pairs alone; 0 where none of them is a true positive.
    - brier: one minus the mean squared error of the answers.
    """
    count = len(truth)
    yes, open_ = answers > 0.5, answers == 0.5
    hit = int((yes & truth).sum())
    wrong = int((yes & ~truth).sum())
    missed = int((truth & ~yes & ~open_).sum())
    unanswered = int(open_.sum())
    right = hit + int((~truth & ~yes & ~open_).sum())
    weighted = 1.25 * hit
    return {
        "auc": auc(answers, truth),
        "c@1": (right + unanswered * right / count) / count,
        "f_05_u": weighted / (weighted + 0.25 * (missed + unanswered) + wrong) if hit else 0.0,
        "F1": 2 * hit / (2 * hit + wrong + missed) if hit else 0.0,
        "brier": 1.0 - float(((answers - truth) ** 2).mean()),
    }


def equal_error_threshold(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the score at and above which pairs are accepted where both error rates are nearest.

    NaN without both classes. The first such score from above, as in :meth:`favor.statistics.roc.Roc.equal_error_rate`.
    """
    if positive.all() or not positive.any():
        return float("nan")
    return float(np.unique(scores)[::-1][max(Roc.of(scores, positive).nearest - 1, 0)])


def answers_of(cosines: np.ndarray, threshold: float) -> np.ndarray:
    """Map cosines to [0, 1] by two straight lines, -1 to 0, ``threshold`` to 0.5 and 1 to 1; the order is kept."""
    return np.interp(np.clip(cosines, -1.0, 1.0), [-1.0, threshold, 1.0], [0.0, 0.5, 1.0])
