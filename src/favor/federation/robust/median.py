"""Coordinate-wise median: every number of the shared update is the median of that number over the uploads."""

import numpy as np

from favor.federation.combining import ByNumber

RULE = ByNumber(
    "Delta[k] = median_i Delta_i[k]; the mean of the middle two where their number is even",
    "Yin, Chen, Ramchandran and Bartlett 2018, definition 1",
    lambda values, _attackers: np.median(values, axis=0),
)
