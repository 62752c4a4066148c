"""How much of the variance of vectors lies between authors, between prompts, and in what is left."""

from __future__ import annotations

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
    observations. Estimated by Henderson's Method I (1953, Biometrics 9; Searle, Casella and McCulloch 1992, section
    5.3): four sums of squares are set equal to their expectations. On a full table with one observation per cell that
    is the analysis of variance: rows = (MS_rows - MS_remainder) / number of columns. The remainder holds the
    interaction. None where the four equations are not independent: fewer than two labels of a kind, or as many
    observations as the labels explain.
    """
    (names, row), (heads, column) = (np.unique(labels, return_inverse=True) for labels in (rows, columns))
    table = np.zeros((len(names), len(heads)))
    np.add.at(table, (row, column), 1.0)
    total = float(table.sum())
    if len(names) < 2 or len(heads) < 2 or total <= len(names) + len(heads) - 1:
        return None
    per_row, per_column = table.sum(axis=1), table.sum(axis=0)
    # Distances from the mean: the sums below are differences of large numbers otherwise.
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    sums = np.array(
        [_square(centred, row, per_row), _square(centred, column, per_column), float((centred**2).sum()), 0.0]
    )
    # Coefficients of the squared mean and of the three variances in the expectations of these sums.
    crossed = table**2
    expectations = np.array(
        [
            [total, total, (crossed.sum(axis=1) / per_row).sum(), len(names)],
            [total, (crossed.sum(axis=0) / per_column).sum(), total, len(heads)],
            [total, total, total, total],
            [total, (per_row**2).sum() / total, (per_column**2).sum() / total, 1.0],
        ]
    )
    if np.linalg.matrix_rank(expectations) < len(expectations):
        return None
    _, between_rows, between_columns, remainder = np.linalg.solve(expectations, sums)
    return VarianceComponents(float(between_rows), float(between_columns), float(remainder))


def _square(centred: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> float:
    """Return the sum over labels of size times squared length of the label's mean."""
    sums = np.zeros((len(sizes), centred.shape[1]))
    np.add.at(sums, labels, centred)
    return float(((sums**2).sum(axis=1) / sizes).sum())
