"""Krum: the one upload that is nearest to most of the others."""

import numpy as np

from favor.federation.combining import ByUpload, nearest_first
from favor.federation.settings import Robust

FEWEST = (2, 3)


def _chosen(norms: np.ndarray, distances: np.ndarray, settings: Robust) -> np.ndarray:
    return np.eye(len(norms))[nearest_first(distances, settings)[0]]


RULE = ByUpload(
    "Delta = Delta_i with the least sum of squared distances to its n - f - 2 nearest others",
    "Blanchard, El Mhamdi, Guerraoui and Stainer 2017",
    _chosen,
)
