"""Norm bounding: an upload that is longer than a bound is scaled down to it, then the mean is taken."""

import numpy as np

from favor.federation.combining import ByUpload
from favor.federation.settings import Robust


def _bounded(norms: np.ndarray, _distances: np.ndarray, settings: Robust) -> np.ndarray:
    assert settings.norm is not None  # the configuration is complete
    return 1.0 / np.maximum(1.0, norms / settings.norm) / len(norms)


RULE = ByUpload(
    "Delta = 1/n sum_i Delta_i / max(1, ||Delta_i|| / M), with M = norm and the norm over all tensors together",
    "Sun, Kairouz, Suresh and McMahan 2019",
    _bounded,
)
