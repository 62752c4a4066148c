"""Differential privacy of an author (DP-FedAvg, McMahan et al. 2018): uploads are clipped, their sum gets noise.

The server's mean is (sum_i clip_S(Delta_i) + N(0, sigma^2 S^2)) / C, with S = ``clip``, sigma = ``noise_multiplier``
and C = ``cohort``, which is fixed, so that taking one author's upload out moves the sum by S at most. What follows from
it is counted in :mod:`favor.statistics.accounting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from favor.foundation.seeds import numpy_generator

if TYPE_CHECKING:  # the workflow reads this module whenever it is parsed
    import numpy as np


@dataclass(frozen=True)
class Privacy:
    """clip: largest L2 norm of an upload. noise_multiplier: noise on the sum, in clips. cohort: clients per round."""

    clip: float
    noise_multiplier: float
    cohort: int


def clipped(delta: Mapping[str, np.ndarray], clip: float) -> dict[str, np.ndarray]:
    """Return Delta * min(1, S / ||Delta||), the norm taken over all tensors of an upload together, in float64."""
    norm = sum(float((tensor.astype("float64") ** 2).sum()) for tensor in delta.values()) ** 0.5
    if norm <= clip:
        return dict(delta)
    return {key: (tensor * (clip / norm)).astype(tensor.dtype) for key, tensor in delta.items()}


def noise(
    shape: tuple[int, ...], privacy: Privacy, seed: int, track: str, round_number: int, tensor: str
) -> np.ndarray:
    """Return draws of N(0, (sigma S)^2) for one tensor of a round's sum, in float64.

    Stream: (``seed``, "privacy noise", track, round, tensor). Whoever knows the seed knows the noise: a simulation
    repeats, a deployment draws from a secret.
    """
    draws = numpy_generator(seed, "privacy noise", track, round_number, tensor).standard_normal(shape)
    return draws * (privacy.noise_multiplier * privacy.clip)
