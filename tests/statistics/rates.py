"""The equal error rate of pairs that come as one block."""

from __future__ import annotations

import numpy as np

from favor.statistics.roc import separation


def equal_error_rate(scores: np.ndarray, positive: np.ndarray, interpolated: bool = False) -> float:
    """See :meth:`favor.statistics.roc.Roc.equal_error_rate`; NaN without both classes."""
    found = separation(lambda: [(scores, positive)])
    return found.interpolated_eer if interpolated else found.eer
