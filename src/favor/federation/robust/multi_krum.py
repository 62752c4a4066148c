"""Multi-Krum: the mean of the n - f uploads that Krum puts first."""

import numpy as np

from favor.federation.combining import ByUpload, nearest_first
from favor.federation.settings import Robust

FEWEST = (2, 3)


def _chosen(norms: np.ndarray, distances: np.ndarray, settings: Robust) -> np.ndarray:
    kept = nearest_first(distances, settings)[: len(norms) - settings.attackers]
    return np.eye(len(norms))[kept].mean(axis=0)


RULE = ByUpload(
    "Delta = the mean of the m = n - f uploads with the least sums of squared distances to their n - f - 2 nearest",
    "Blanchard, El Mhamdi, Guerraoui and Stainer 2017",
    _chosen,
)
