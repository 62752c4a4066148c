"""Paired tests on matched outputs: McNemar's exact test, Wilcoxon's signed-rank test, Holm's correction."""

from collections.abc import Sequence

import numpy as np

# scipy.stats takes half of a table's time to be imported, and tables ask for `holm` alone: it is imported where used.


def mcnemar_exact(left_correct: np.ndarray, right_correct: np.ndarray) -> float:
    """Two-sided exact McNemar p-value of two boolean arrays [n]: a fair coin over the pairs that disagree.

    1.0 where no pair disagrees.
    """
    from scipy.stats import binomtest

    only_left = int((left_correct & ~right_correct).sum())
    only_right = int((~left_correct & right_correct).sum())
    if only_left + only_right == 0:
        return 1.0
    return float(binomtest(only_left, only_left + only_right, 0.5).pvalue)


def wilcoxon_signed_rank(left: np.ndarray, right: np.ndarray) -> float:
    """Two-sided Wilcoxon signed-rank p-value of paired values [n]; differences under 1e-12 count as zero: dropped.

    1.0 where all differences are zero. Exact for at most 50 untied differences, a normal approximation beyond
    (SciPy's rule).
    """
    from scipy.stats import wilcoxon

    differences = np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64)
    # Equal texts may differ in the last bit of a product; ranked, such noise would decide the test.
    differences = differences[np.abs(differences) >= 1e-12]
    if not len(differences):
        return 1.0
    return float(wilcoxon(differences).pvalue)


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm-adjusted p-values of one family, in the order given; NaN stays NaN and is not counted as a test."""
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(values), np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    scaled = values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if len(order) else scaled
    return adjusted
