"""How much of the variance of vectors lies between authors, between prompts and so on, and in what is left."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class VarianceComponents:
    """Estimated variances, summed over dimensions. A negative estimate is kept: it says that the variance is near 0."""

    rows: float
    columns: float
    remainder: float

    @property
    def shares(self) -> tuple[float, float, float]:
        """Shares (rows, columns, remainder) of their sum, negative estimates counted as 0; NaN where all are 0."""
        kept = np.maximum([self.rows, self.columns, self.remainder], 0.0)
        total = kept.sum()
        first, second, rest = (kept / total if total > 0 else np.full(3, np.nan)).tolist()
        return first, second, rest


def variance_components(vectors: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> VarianceComponents | None:
    """Return the components of the random-effects model y_ij = mean + row_i + column_j + remainder_ij.

    vectors: [n, d], one observation per row. rows, columns: its labels [n]; cells may be empty or hold several
    observations. On a full table with one observation per cell this is the analysis of variance: rows =
    (MS_rows - MS_remainder) / number of columns. The remainder holds the interaction. None where
    :func:`random_effects` finds none.
    """
    found = random_effects(vectors, (rows, columns))
    return None if found is None else VarianceComponents(*found)


def random_effects(vectors: np.ndarray, factors: Sequence[np.ndarray]) -> list[float] | None:
    """Return the variances of y = mean + one random effect per factor + remainder: the factors', then the remainder's.

    vectors: [n, d], summed over dimensions. factors: labels [n] of each; factors may cross or nest, and sizes differ.
    A factor within another stands after it. Estimated by Henderson's Method I (1953, Biometrics 9; Searle, Casella and
    McCulloch 1992, section 5.3): as many sums of squares as there are unknowns are set equal to their expectations.
    Estimates can be negative. None where the equations are not independent: fewer than two labels of a kind, or as many
    observations as the labels explain.
    """
    codes = [np.unique(labels, return_inverse=True)[1] for labels in factors]
    sizes = [np.bincount(code).astype(np.float64) for code in codes]
    total = float(len(vectors))
    if any(len(size) < 2 for size in sizes) or total <= 1 + sum(_freedom(codes, place) for place in range(len(codes))):
        return None
    # Distances from the mean: the sums below are differences of large numbers otherwise.
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    squares = [_square(centred, code, size) for code, size in zip(codes, sizes, strict=True)]
    # Coefficients of the squared mean and of the variances in the expectations of these sums.
    expectations = [
        [total, *(_met(code, size, other) for other in codes), float(len(size))]
        for code, size in zip(codes, sizes, strict=True)
    ]
    expectations.append([total] * (len(codes) + 2))
    expectations.append([total, *(float((size**2).sum()) / total for size in sizes), 1.0])
    sums = np.array([*squares, float((centred**2).sum()), 0.0])
    if np.linalg.matrix_rank(np.array(expectations)) < len(expectations):
        return None
    return [float(value) for value in np.linalg.solve(np.array(expectations), sums)[1:]]


def _cells(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of ``first`` that meet each label of ``second``, and the observations of each meeting."""
    cells, counts = np.unique(first * (int(second.max()) + 1) + second, return_counts=True)
    return cells // (int(second.max()) + 1), counts.astype(np.float64)


def _met(code: np.ndarray, sizes: np.ndarray, other: np.ndarray) -> float:
    """Return the sum of n_gh^2 / n_g: n_gh observations have label g of ``code``, n_g in all, and h of ``other``."""
    labels, counts = _cells(code, other)
    return float((counts**2 / sizes[labels]).sum())


def _freedom(codes: Sequence[np.ndarray], place: int) -> int:
    """Return the degrees of freedom of a factor, less those of an earlier one that it lies within, or of the mean."""
    labels = int(codes[place].max()) + 1
    around = [int(code.max()) + 1 for code in codes[:place] if len(_cells(codes[place], code)[0]) == labels]
    return labels - max(around, default=1)


def _square(centred: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> float:
    """Return the sum over labels of size times squared length of the label's mean."""
    sums = np.zeros((len(sizes), centred.shape[1]))
    np.add.at(sums, labels, centred)
    return float(((sums**2).sum(axis=1) / sizes).sum())
