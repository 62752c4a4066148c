"""Coordinate-wise trimmed mean: of every number, the f largest and the f smallest are left out."""

import numpy as np

from favor.federation.combining import ByNumber

FEWEST = (2, 1)
RULE = ByNumber(
    "Delta[k] = the mean of the n - 2 f values Delta_i[k] that are left without the f largest and the f smallest",
    "Yin, Chen, Ramchandran and Bartlett 2018, definition 2 (beta = f / n)",
    lambda values, attackers: np.sort(values, axis=0)[attackers : len(values) - attackers].mean(axis=0),
)
