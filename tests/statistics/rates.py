"""The equal error rate of pairs that come as one block."""

from favor.statistics.roc import separation


def equal_error_rate(scores, positive, interpolated=False) -> float:
    """See :meth:`favor.statistics.roc.Roc.equal_error_rate`; NaN without both classes."""
    found = separation(lambda: [(scores, positive)])
    return found.interpolated_eer if interpolated else found.eer
