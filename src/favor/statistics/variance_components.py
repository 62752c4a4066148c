"""How much of the variance of vectors lies between authors, between prompts and so on, and in what is left."""

from collections.abc import Sequence

import numpy as np
from scipy import stats


def shares(variances: Sequence[float]) -> list[float]:
    """Return the shares of ``variances`` in their sum, negative estimates counted as 0; NaN where all are 0."""
    kept = np.maximum(variances, 0.0)
    total = kept.sum()
    return (kept / total if total > 0 else np.full(len(kept), np.nan)).tolist()


def row_share_limits(
    vectors: np.ndarray, rows: np.ndarray, columns: np.ndarray, level: float = 0.95
) -> tuple[float, float]:
    """Return the limits of the rows' share in :func:`random_effects` of rows and columns; NaN where it has none.

    The mean square of rows, adjusted for columns, over that of the remainder is F distributed (Searle, Casella and
    McCulloch 1992, section 4.4). The dimensions of a vector are not independent, so the degrees of freedom of each are
    multiplied by tr(S)^2 / tr(S^2) (Box 1954, Annals of Mathematical Statistics 25). Columns are fixed: the ratio of
    their variance to the remainder's is the observed one.
    """
    found = random_effects(vectors, (rows, columns))
    if found is None or found[2] <= 1e-9 * max(*found[:2], 0.0):
        return float("nan"), float("nan")
    row, column = (np.equal.outer(labels, np.unique(labels)).astype(np.float64) for labels in (rows, columns))
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    by_columns, by_both = (_explained(design) for design in (column, np.hstack([row, column])))
    fitted = by_both @ (by_both.T @ centred)
    between, within = fitted - by_columns @ (by_columns.T @ centred), centred - fitted
    freedom = by_both.shape[1] - by_columns.shape[1], len(vectors) - by_both.shape[1]
    # Coefficient of the rows' variance in the expectation of their mean square: observations per row, if all are there.
    per_row = (len(vectors) - float(((by_columns.T @ row) ** 2).sum())) / freedom[0]
    ratio = (between**2).sum() / freedom[0] / ((within**2).sum() / freedom[1])
    degrees = [of * _independent(values, of) for of, values in zip(freedom, (between, within), strict=True)]
    ends = ratio / stats.f.ppf([(1 + level) / 2, (1 - level) / 2], *degrees)
    low, high = np.maximum(0.0, ends - 1) / per_row
    beside = 1 + max(0.0, found[1]) / found[2]
    share = shares(found)[0]
    return min(share, float(low / (low + beside))), max(share, float(high / (high + beside)))


def _explained(design: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of a design's columns."""
    left, sizes, _ = np.linalg.svd(design, full_matrices=False)
    return left[:, sizes > 1e-9 * sizes[0]]


def _independent(values: np.ndarray, freedom: int) -> float:
    """Return tr(S)^2 / tr(S^2) of the covariance behind rows with so many degrees of freedom, from 1 to dimensions.

    tr(S^2) is estimated without bias (Srivastava 2005, Journal of the Japan Statistical Society 35).
    """
    if freedom < 2:
        return 1.0
    products = values @ values.T
    trace, squares = np.trace(products) / freedom, (products**2).sum() / freedom**2
    unbiased = freedom**2 / ((freedom - 1) * (freedom + 2)) * (squares - trace**2 / freedom)
    return float(np.clip(trace**2 / unbiased, 1.0, values.shape[1])) if unbiased > 0 else float(values.shape[1])


def random_effects(vectors: np.ndarray, factors: Sequence[np.ndarray]) -> list[float] | None:
    """Return the variances of y = mean + one random effect per factor + remainder: the factors', then the remainder's.

    vectors: [n, d], summed over dimensions. factors: labels [n] of each; factors may cross or nest, and sizes differ.
    A factor within another stands after it. The remainder holds the interaction of factors that cross. Estimated by
    Henderson's Method I (1953, Biometrics 9; Searle, Casella and McCulloch 1992, section 5.3): as many sums of squares
    as there are unknowns are set equal to their expectations. Of rows and columns that meet once each it is the
    analysis of variance: rows = (MS_rows - MS_remainder) / number of columns. Estimates can be negative, which says
    that a variance is near 0. None where the equations are not independent: fewer than two labels of a kind, or as many
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
