"""How far apart authors are: the variance of their means without the noise of few texts, under a bootstrap of authors.

``counts`` [draws, authors] says how often a draw takes each author; a row of ones is the data itself. ``cluster`` [n]
is the author of each row of ``values`` [n, d]. Results are arrays [draws, d].
"""

import numpy as np


def author_means(values: np.ndarray, cluster: np.ndarray, authors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (means [authors, d], texts per author [authors]); NaN means for an author without texts."""
    sizes = np.bincount(cluster, minlength=authors).astype(np.float64)
    sums = np.zeros((authors, values.shape[1]))
    np.add.at(sums, cluster, values)
    means = np.full_like(sums, np.nan)
    np.divide(sums, sizes[:, None], out=means, where=sizes[:, None] > 0)
    return means, sizes


def post_means(values: np.ndarray, cluster: np.ndarray, posts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (values [m, d], cluster [m]) with one row per author and post: the mean of the author's rows on it.

    posts: the post behind each row [n]. Rows on one post, such as samples of one prompt or the outputs of several seeds
    that drew it, scatter less than rows on as many posts: counted one by one they would understate the noise.
    """
    names, post = np.unique(posts.astype(str), return_inverse=True)
    cells, place = np.unique(cluster * max(1, len(names)) + post, return_inverse=True)
    return author_means(values, place, len(cells))[0], cells // max(1, len(names))


def between_variance(values: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the variance between authors: var_a(mean_a) - mean_a(s^2 / n_a), [draws, d]; it can be negative.

    var_a is the sample variance over the k authors drawn (k - 1 in its denominator). s^2 is the variance within
    authors, pooled over those drawn: what is subtracted is what means of n_a texts scatter by themselves. The method of
    moments of a one-way random-effects model. A draw with replacement has (N - 1) / N of the variance between its N
    authors, so that var_a of a draw, a row that does not take every author once, counts N / (N - 1) times. NaN where
    fewer than two authors, or no author with two texts, are drawn.
    """
    if len(values) == 0:
        return np.full((len(counts), values.shape[1]), np.nan)
    authors = counts.shape[1]
    means, sizes = author_means(values, cluster, authors)
    weight = counts * (sizes > 0)
    drawn = weight.sum(axis=1, keepdims=True)
    within = np.zeros((authors, values.shape[1]))
    np.add.at(within, cluster, (values - means[cluster]) ** 2)
    known = np.nan_to_num(means - np.nanmean(means, axis=0))  # variances of centred values lose fewer digits
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = weight @ known / drawn
        spread = (weight @ known**2 / drawn - centre**2) * drawn / (drawn - 1)
        present = max(2, int((sizes > 0).sum()))
        spread *= np.where((weight == (sizes > 0)).all(axis=1, keepdims=True), 1.0, present / (present - 1))
        pooled = weight @ within / (weight @ np.maximum(sizes - 1, 0))[:, None]
        noise = (
            pooled * ((weight @ np.divide(1.0, sizes, out=np.zeros(authors), where=sizes > 0)) / drawn[:, 0])[:, None]
        )
        found: np.ndarray = spread - noise
    found[~np.isfinite(found)] = np.nan
    return found


def mean_slope(values: np.ndarray, cluster: np.ndarray, reference: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the slope of authors' means on ``reference`` [authors, d] by least squares, [draws, d].

    1: every author is as far from the group's mean as in the reference; 0: all are at one place. Noise of few texts in
    ``values`` does not bias it, noise in the reference does. NaN where the drawn authors do not differ in it.
    """
    means, sizes = author_means(values, cluster, counts.shape[1])
    weight = counts * (sizes > 0)
    drawn = weight.sum(axis=1, keepdims=True)
    shift = reference.mean(axis=0)
    left, right = np.nan_to_num(means - shift), reference - shift
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = weight @ (left * right) / drawn - (weight @ left / drawn) * (weight @ right / drawn)
        variance = weight @ right**2 / drawn - (weight @ right / drawn) ** 2
        slope: np.ndarray = np.where(variance > 1e-15, covariance / variance, np.nan)
    return slope
