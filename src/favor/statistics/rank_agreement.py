"""Whether measures rank the same things alike, and what difference a sample of authors can show."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import norm, rankdata

from favor.statistics.bootstrap import mean_of_known

Groups = Mapping[str, str]  # measure -> group; a measure is compared with those of other groups


def correlate(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation along the last axis [..., n] -> [...]; NaN where one side does not vary."""
    left, right = (side - side.mean(axis=-1, keepdims=True) for side in (left, right))
    scale = np.sqrt((left**2).sum(axis=-1) * (right**2).sum(axis=-1))
    product = (left * right).sum(axis=-1)
    return np.divide(product, scale, out=np.full(np.shape(product), np.nan), where=scale > 1e-12)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks along the last axis, [..., n]. Numbers that are equal but for rounding share theirs."""
    scale = float(np.abs(values[np.isfinite(values)]).max(initial=1.0))
    return rankdata(np.round(values / scale, 10), axis=-1)


def rank_correlations(
    values: Mapping[str, np.ndarray], groups: Groups, draws: np.ndarray, over: str
) -> tuple[dict[str, np.ndarray], dict[tuple[str, str], np.ndarray]]:
    """Return Spearman's rank correlations of measures in every draw of authors.

    ``values``: measure -> [methods, authors]. ``draws`` [draws, authors]: the authors that each draw takes. ``over``:
    "methods" ranks the methods by their means over the authors drawn; "authors" ranks the authors drawn within every
    method, and averages the correlation over methods. First: of each measure with the mean rank of all measures of
    other groups (arrays [draws]; NaN if there is no other group). Second: of every pair of measures, in name order.
    """
    names = sorted(values)
    placed = {}
    for name in names:
        drawn = values[name][:, draws]  # [methods, draws, authors]
        rows = drawn.mean(axis=2).T if over == "methods" else drawn
        placed[name] = ranks(rows)
    rest = {}
    for name in names:
        others = [placed[other] for other in names if groups[other] != groups[name]]
        rest[name] = (
            _mean(correlate(placed[name], np.mean(others, axis=0)), over) if others else np.full(len(draws), np.nan)
        )
    pairs = {
        (first, second): _mean(correlate(placed[first], placed[second]), over)
        for place, first in enumerate(names)
        for second in names[place + 1 :]
    }
    return rest, pairs


def _mean(correlations: np.ndarray, over: str) -> np.ndarray:
    """Return the mean over methods of those that exist: [methods, draws] -> [draws]."""
    return correlations if over == "methods" else mean_of_known(correlations)


def drawn_authors(counts: np.ndarray) -> np.ndarray:
    """Return the authors that each row of ``counts`` [draws, authors] takes: indices [draws, authors]."""
    return np.stack([np.repeat(np.arange(counts.shape[1]), row.astype(int)) for row in counts])


def detectable_difference(error: float, power: float = 0.8, level: float = 0.05) -> float:
    """Return the smallest true difference that a two-sided test of ``level`` finds with ``power``.

    (z_{1 - level / 2} + z_{power}) times the standard error of the difference (Cohen 1988, normal approximation):
    2.80 standard errors by default.
    """
    return float((norm.ppf(1 - level / 2) + norm.ppf(power)) * error)


def split_half_error(values: Sequence[np.ndarray], generator: np.random.Generator, splits: int) -> float:
    """Return the standard error of the difference between two samples of the size of ``values``, equal in truth.

    ``values``: one array per author, of a measure of each text. Every author's texts are split at random into halves
    of m texts; of an odd number n one is left over. The difference of the halves' means has the error of samples of m
    texts, so it is multiplied by sqrt(m / n). The mean square over ``splits``. NaN with fewer than two authors of two
    texts.
    """
    halves = [own for own in values if len(own) > 1]
    if len(halves) < 2:
        return float("nan")
    squares = []
    for _ in range(splits):
        differences = []
        for own in halves:
            order, middle = generator.permutation(len(own)), len(own) // 2
            apart = own[order[:middle]].mean() - own[order[middle : 2 * middle]].mean()
            differences.append(apart * np.sqrt(2 * middle / len(own)))
        squares.append(np.var(differences, ddof=1) / len(halves))
    return float(np.sqrt(np.mean(squares) / 2))
