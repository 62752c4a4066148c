"""Scores of a verifier as likelihood ratios: logistic regression, and what the ratios cost."""

import numpy as np
from sklearn.linear_model import LogisticRegression


class Calibration:
    """Score -> log10 of the likelihood ratio of own against other author, by logistic regression with equal priors.

    Morrison 2013, "Tutorial on logistic-regression calibration and fusion". Scores are standardised first, so that
    the regression's penalty (C = 1) means the same for every verifier.
    """

    def __init__(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Fit on ``scores`` [n] of pairs that are ``positive`` [n] or not; both kinds must be there."""
        self._mean, deviation = float(scores.mean()), float(scores.std())
        self._scale = deviation if deviation > 0 else 1.0
        self._model = LogisticRegression(class_weight="balanced", tol=1e-9).fit(self._standardised(scores), positive)

    def ratios(self, scores: np.ndarray) -> np.ndarray:
        """Return the log10 ratios of ``scores``, of any shape."""
        if not scores.size:
            return np.zeros(scores.shape)
        found: np.ndarray = self._model.decision_function(self._standardised(scores)) / np.log(10)
        return found.reshape(scores.shape)

    def _standardised(self, scores: np.ndarray) -> np.ndarray:
        return ((scores - self._mean) / self._scale).reshape(-1, 1)


def ratio_cost(ratios: np.ndarray, positive: np.ndarray) -> float:
    """Return Cllr = (mean over positives of log2(1 + 1 / LR) + mean over negatives of log2(1 + LR)) / 2, in bits.

    Brümmer and du Preez 2006. 0 for perfect ratios, 1 for ratios that say nothing; above it they mislead. ``ratios``
    are log10. NaN without both kinds, or with a ratio that is not known.
    """
    if positive.all() or not positive.any() or not np.isfinite(ratios).all():
        return float("nan")
    natural = ratios * np.log(10)
    lost = np.logaddexp(0, -natural[positive]).mean() + np.logaddexp(0, natural[~positive]).mean()
    return float(lost / 2 / np.log(2))
