"""Cluster bootstrap in closed form: means, AUC and EER of all draws at once, paired between methods.

A draw takes C clusters with replacement; ``counts`` [draws, C] says how often each was taken. The same matrix serves
both methods of a comparison, which pairs them. A statistic with ``counts`` of ones is the observed value.
"""

import math
from collections.abc import Iterable
from functools import cache

import numpy as np
from scipy.stats import t as student_t

from favor.foundation.seeds import numpy_generator

DRAWS = 10_000
TABLE_CELLS = 16_000_000  # of a table of counts by threshold and cluster: 128 MB


@cache
def student_limit(freedom: int) -> float:
    """Return the 97.5 % point of Student's t."""
    return float(student_t.ppf(0.975, freedom))


def resample_counts(clusters: int, seed: int, draws: int = DRAWS) -> np.ndarray:
    """Draw ``draws`` resamples of ``clusters`` clusters: float64 [draws, clusters], every row sums to ``clusters``."""
    generator = numpy_generator(seed, "cluster bootstrap", clusters)
    return generator.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=draws).astype(np.float64)


def observed_and_resampled(clusters: int, seed: int, draws: int = DRAWS) -> np.ndarray:
    """Counts [1 + draws, clusters]: those of the data itself, then :func:`resample_counts`."""
    return np.concatenate([observed(clusters), resample_counts(clusters, seed, draws)])


def mean_draws(values: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mean of ``values`` [n] in every draw; ``cluster`` [n] is the cluster index of each value. NaN for empty draws."""
    clusters = counts.shape[1]
    sums = np.bincount(cluster, weights=values, minlength=clusters)
    sizes = np.bincount(cluster, minlength=clusters).astype(np.float64)
    return _ratio(counts @ sums, counts @ sizes)


def win_counts(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, clusters: int) -> np.ndarray:
    """W [clusters, clusters]: W[a, b] counts how often a positive of a outscores a negative of b, ties half."""
    wins = np.zeros((clusters, clusters))
    scored, owner = scores[positive], cluster[positive]
    for index in range(clusters):
        negatives = np.sort(scores[~positive & (cluster == index)])
        beaten = (np.searchsorted(negatives, scored, "left") + np.searchsorted(negatives, scored, "right")) / 2
        wins[:, index] = np.bincount(owner, weights=beaten, minlength=clusters)
    return wins


def auc_draws(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """AUC of the pairs in every draw: rowsum((M W) * M) / ((M P)(M N)), with M the counts and W the win counts.

    P and N are the positives and negatives per cluster. Equals the AUC over the resampled pairs exactly; NaN for
    draws without both classes.
    """
    clusters = counts.shape[1]
    wins = win_counts(scores, positive, cluster, clusters)
    positives = np.bincount(cluster[positive], minlength=clusters).astype(np.float64)
    negatives = np.bincount(cluster[~positive], minlength=clusters).astype(np.float64)
    return _ratio(((counts @ wins) * counts).sum(axis=1), (counts @ positives) * (counts @ negatives))


def pair_auc_draws(scores: np.ndarray, left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """AUC in every draw of pairs between two items, each with a cluster of its own: ``left`` and ``right`` [n].

    A pair is positive within a cluster and negative between two. A draw that takes cluster a m_a times holds m_a of
    its positives and m_a m_b of the negatives between a and b: copies of a cluster are not paired with one another.
    AUC* = sum_a m_a sum_bc m_b m_c W[a, bc] / (sum_a m_a P_a) / (sum_bc m_b m_c N_bc), with W the win counts. NaN for
    draws without both classes.
    """
    clusters = counts.shape[1]
    positive = left == right
    # One row per unordered pair of clusters: in the upper half of a square matrix.
    place = np.minimum(left, right)[~positive] * clusters + np.maximum(left, right)[~positive]
    positives = np.bincount(left[positive], minlength=clusters).astype(np.float64)
    negatives = np.bincount(place, minlength=clusters**2).reshape(clusters, clusters)
    wins = np.zeros(len(counts))
    for index in range(clusters):  # one matrix at a time: all of them are clusters^3 numbers
        own = np.sort(scores[positive & (left == index)])
        lower, upper = (np.searchsorted(own, scores[~positive], side=side) for side in ("left", "right"))
        above = np.bincount(place, weights=len(own) - (lower + upper) / 2, minlength=clusters**2)
        wins += counts[:, index] * ((counts @ above.reshape(clusters, clusters)) * counts).sum(axis=1)
    return _ratio(wins, (counts @ positives) * ((counts @ negatives) * counts).sum(axis=1))


def compared(near: np.ndarray) -> int:
    """Return of how many clusters an AUC is, for its interval: those with texts that are compared with another's.

    near: boolean [clusters, clusters], whose texts meet whose as negatives. Two that are compared with each other alone
    count as one, because what they are apart, both share; two by themselves as two.
    """
    near = near | np.eye(len(near), dtype=bool)
    met = near.sum(axis=1)
    number, two = int((met > 1).sum()), met == 2
    return max(min(2, number), number - int(np.triu(near & near.T & two & two[:, None], 1).sum()))


def pair_mean_draws(values: np.ndarray, left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mean in every draw of ``values`` of pairs between two items of different clusters, ``left`` and ``right`` [n].

    A draw that takes clusters a and b m_a and m_b times holds m_a m_b of the pairs between them; copies of a cluster
    are not paired with one another. NaN for draws without a pair.
    """
    clusters = counts.shape[1]
    sums, sizes = np.zeros((clusters, clusters)), np.zeros((clusters, clusters))
    np.add.at(sums, (left, right), values)
    np.add.at(sizes, (left, right), 1.0)
    return _ratio(((counts @ sums) * counts).sum(axis=1), ((counts @ sizes) * counts).sum(axis=1))


def macro_f1_draws(true: np.ndarray, predicted: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Macro-F1 in every draw of authors: the mean of F1_a = 2 TP_a / (2 TP_a + FP_a + FN_a) over the authors drawn.

    ``true`` and ``predicted`` [n] are author indices. With C[a, b] the outputs of a predicted as b and m the counts,
    TP_a = C[a, a], FN_a = sum_b!=a C[a, b] and FP_a = sum_b!=a m_b C[b, a]: a copy of an author keeps its own hits.
    Authors without an output are not a class; NaN for a draw without any.
    """
    clusters = counts.shape[1]
    confusion = np.zeros((clusters, clusters))
    np.add.at(confusion, (true, predicted), 1.0)
    hits = np.diag(confusion).copy()
    missed = confusion.sum(axis=1) - hits
    np.fill_diagonal(confusion, 0.0)
    classes = np.flatnonzero(hits + missed)
    score = 2 * hits[classes] / (2 * hits[classes] + (counts @ confusion)[:, classes] + missed[classes])
    weights = counts[:, classes]
    return _ratio((weights * score).sum(axis=1), weights.sum(axis=1))


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve: the exact rank statistic P(s+ > s-) + P(s+ = s-) / 2. NaN without both classes."""
    return float(auc_draws(scores, positive, np.zeros(len(scores), dtype=np.int64), observed(1))[0])


def eer_draws(scores: np.ndarray, positive: np.ndarray, cluster: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Equal error rate of the pairs in every draw, as :meth:`favor.statistics.roc.Roc.equal_error_rate` defines it.

    FNR - FPR falls with the threshold, so every draw finds its two nearest thresholds by bisection; the counts at a
    threshold are dot products with per-cluster cumulative counts. They are whole numbers, which float64 holds exactly
    up to 2^53, so ties are decided as there. NaN for draws without both classes.
    """
    if not len(scores):
        return np.full(len(counts), np.nan)
    order = np.argsort(-scores, kind="stable")
    threshold = np.cumsum(np.append(False, np.diff(scores[order]) != 0))  # every pair's, in falling order of scores
    member, owner, clusters = positive[order], cluster[order], counts.shape[1]
    totals = [np.bincount(owner[own], minlength=clusters).astype(np.float64) for own in (member, ~member)]
    positives, negatives = (counts @ total for total in totals)
    thresholds = int(threshold[-1]) + 1
    step = thresholds if thresholds * clusters <= TABLE_CELLS else math.isqrt(thresholds)

    # First every step-th threshold, then those between the two that a draw finds: a whole table may not fit in memory.
    groups = threshold // step
    rough = [_accepted(own, groups, owner, 0, int(groups[-1]) + 1, clusters) for own in (member, ~member)]
    place, _, _ = _crossing(rough, counts, positives, negatives)
    values = np.full(len(counts), np.nan)
    for group in np.unique(place):
        drawn, first = place == group, int(group) * step
        tables = [
            base[group] + _accepted(own, threshold, owner, first, min(step, thresholds - first), clusters)
            for own, base in zip((member, ~member), rough, strict=True)
        ]
        _, before, after = _crossing(tables, counts[drawn], positives[drawn], negatives[drawn])
        nearer = np.abs(before[0] - before[1]) <= np.abs(after[0] - after[1])
        both = np.where(nearer, before[0] + before[1], after[0] + after[1])
        values[drawn] = _ratio(both, 2 * positives[drawn] * negatives[drawn])
    return values


def observed(clusters: int) -> np.ndarray:
    """Counts [1, clusters] that take every cluster once: the statistic of the data itself."""
    return np.ones((1, clusters))


def influences(draws: np.ndarray, counts: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return by how much each cluster raises a statistic, [clusters]; of a mean, what its own is above the mean.

    draws: [1 + draws] values, NaN where a draw has none; counts: [1 + draws, clusters] behind them. present:
    [clusters], which have anything; the others raise nothing. N times the slopes of the least-squares fit to the draws
    (the infinitesimal jackknife; Efron and Tibshirani 1993, 20.4), which sum to 0.
    """
    known = np.isfinite(draws)
    design = np.column_stack([np.ones(known.sum()), counts[known]])
    slopes = np.linalg.lstsq(design.T @ design, design.T @ draws[known])[0][1:]
    return np.where(present, present.sum() * (slopes - slopes[present].mean()), 0.0)


FEWEST = 8  # clusters of whom variances, slopes and thresholds have intervals: with 6 these hold the truth in 98 %


def standard_error(draws: np.ndarray, clusters: float, counts: np.ndarray | None = None) -> float:
    """Return the standard error of the observed value: the deviation of the draws that exist, times sqrt(N / (N - 1)).

    draws: [1 + draws], or [seeds, 1 + draws] of a mean over seeds, whose own variance (:func:`variance_of_seeds`) is
    added. Means of N clusters drawn with replacement have (N - 1) / N of the variance that means of N new clusters
    have. clusters: N, the effective number where clusters weigh differently. NaN for a single cluster, or fewer than
    two draws.

    With ``counts`` [1 + draws, clusters] it is that of the mean of :func:`influences`. For differences, and statistics
    of pairs, slopes and ranks of few clusters: a draw with many copies of few clusters gives them values that no new
    clusters would.
    """
    error = _error_and_skewness(mean_over_seeds(draws), clusters, counts)[0]
    return math.hypot(error, math.sqrt(variance_of_seeds(draws, clusters)))


def _error_and_skewness(draws: np.ndarray, clusters: float, counts: np.ndarray | None) -> tuple[float, float]:
    """Return the standard error of ``draws[0]`` and the skewness of the distribution that it comes from."""
    known = draws[1:][np.isfinite(draws[1:])]
    if not clusters > 1 or len(known) < 2:
        return float("nan"), 0.0
    if counts is None:
        parts, number = known - known.mean(), 1
    else:
        present = counts[0] > 0
        parts, number = influences(draws, counts, present)[present], int(present.sum())
    spread = float(np.sqrt((parts**2).mean() / number))
    # Rounding leaves a trace of spread where no draw differs.
    if not spread > 1e-12 * max(1.0, abs(float(known[0]))):
        return 0.0, 0.0
    skewness = float((parts**3).mean() / (parts**2).mean() ** 1.5) / math.sqrt(number)
    return spread * math.sqrt(clusters / (clusters - 1)), skewness


FEWEST_SEEDS = 3  # from which what a training seed does to all authors alike has a variance that can be used


def mean_over_seeds(draws: np.ndarray) -> np.ndarray:
    """Return the mean over seeds of draws [seeds, 1 + draws]; draws [1 + draws] as they are."""
    return draws.mean(axis=0) if draws.ndim == 2 else draws


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """Return the mean of the finite ``values`` [k, ...] over the first axis; NaN where none is finite."""
    return np.asarray(np.ma.masked_invalid(values).mean(axis=0).filled(np.nan))


def by_seed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return left - right, seed by seed; of their means where they have other numbers of seeds."""
    if left.shape == right.shape:
        return left - right
    return mean_over_seeds(left) - mean_over_seeds(right)


def around(pooled: np.ndarray, each: Iterable[np.ndarray]) -> np.ndarray:
    """Return ``each`` seed's draws [seeds, 1 + draws], shifted alike so that their mean is ``pooled`` [1 + draws].

    For statistics of all seeds' outputs together, of which a seed may have more. A draw without a value in a seed has
    the pooled one there.
    """
    stacked = np.stack([np.where(np.isfinite(one), one, pooled) for one in each])
    return stacked + (pooled - stacked.mean(axis=0))


def seed_draws(values: np.ndarray, cluster: np.ndarray, counts: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Return :func:`mean_draws` by seed, [seeds, 1 + draws], around that of all ``values``; ``seeds`` [n]."""
    each = (mean_draws(values[seeds == one], cluster[seeds == one], counts) for one in np.unique(seeds))
    return around(mean_draws(values, cluster, counts), each)


def variance_of_seeds(draws: np.ndarray, clusters: float) -> float:
    """Return what training seeds add to the variance of a mean over seeds by what they do to all authors alike.

    draws: [seeds, 1 + draws], each of the same clusters. With seeds and authors as crossed random effects, the values
    of S seeds vary by s^2 + e^2 / N. By e^2 / N their distances vary when authors are drawn again, which the variance
    over authors holds already. So s^2 / S is what is left: 0 where nothing is, and for fewer than ``FEWEST_SEEDS``.
    """
    if draws.ndim == 1 or len(draws) < FEWEST_SEEDS or not clusters > 1:
        return 0.0
    known = draws[:, 1:][:, np.isfinite(draws[:, 1:]).all(axis=0)]
    if not known.size:  # as where a seed has no output: the mean has no interval either
        return 0.0
    apart = (known - known.mean(axis=0)).var(axis=1).sum() / (len(draws) - 1) * clusters / (clusters - 1)
    return max(0.0, float(draws[:, 0].var(ddof=1) - apart)) / len(draws)


def half_width_of_seeds(draws: np.ndarray, clusters: float) -> float:
    """Return the half of the 95 % interval of what seeds do to all authors alike: t of S - 1 degrees of freedom."""
    variance = variance_of_seeds(draws, clusters)
    return student_limit(len(draws) - 1) * math.sqrt(variance) if variance else 0.0


Bounds = tuple[float, float]  # what a measure is at least and at most
RATE: Bounds = (0.0, 1.0)
CORRELATION: Bounds = (-1.0, 1.0)


def student_limits(draws: np.ndarray, clusters: int) -> tuple[float, float]:
    """Return the value +- t s, with s of :func:`standard_error` and t the 97.5 % point of N - 1 degrees of freedom.

    For ratios, and variances between clusters: their draws are skewed by copies of clusters, and not as their values
    are. Of draws by seed, what seeds do is added as in :func:`interval`.
    """
    mean = mean_over_seeds(draws)
    half = student_limit(clusters - 1) * standard_error(mean, clusters)
    half = math.hypot(half, half_width_of_seeds(draws, clusters))
    return float(mean[0]) - half, float(mean[0]) + half


def interval(
    draws: np.ndarray, clusters: int, bounds: Bounds | None = None, counts: np.ndarray | None = None
) -> tuple[float, float]:
    """The 95 % interval of the observed value, over new clusters like the N observed ones.

    draws: [1 + draws], the observed value first; or [seeds, 1 + draws] of a mean over seeds, whose interval is over
    new seeds too, from ``FEWEST_SEEDS`` on: each end is moved by :func:`half_width_of_seeds`, added in squares (Howe
    1974). With three seeds and 24 authors or more, Satterthwaite's degrees of freedom would cover .93.

    Without ``bounds``: Student's interval of N - 1 degrees of freedom, moved and stretched to the side on which few
    clusters lie far out (:func:`skewed_limits`). With ``bounds``, for a measure that comes near them: Wilson's score
    interval (1927) of p, the value as a share of the way between the bounds, for as many trials n = p (1 - p) / s^2 as
    would scatter so much (the effective sample size of clustered rates; Dean and Pagano 2015), with t in the place of
    1.96. It stays within the bounds. Where no draw differs, as where every output is right, n is N. NaN for a single
    cluster. ``counts``: of :func:`standard_error`, for statistics of pairs, slopes and ranks. Differences have an
    interval of their own (:func:`favor.statistics.differences.compare`).
    """
    mean = mean_over_seeds(draws)
    low, high = _over_clusters(mean, clusters, bounds, counts)
    value, seeds = float(mean[0]), half_width_of_seeds(draws, clusters)
    if not seeds or math.isnan(low):
        return low, high
    low, high = value - math.hypot(value - low, seeds), value + math.hypot(high - value, seeds)
    return (low, high) if bounds is None else (max(bounds[0], low), min(bounds[1], high))


def _over_clusters(
    draws: np.ndarray, clusters: int, bounds: Bounds | None, counts: np.ndarray | None
) -> tuple[float, float]:
    error, skewness = _error_and_skewness(draws, clusters, counts)
    if not np.isfinite(draws[0]) or math.isnan(error):
        return float("nan"), float("nan")
    value, t = float(draws[0]), student_limit(clusters - 1)
    if bounds is None:
        return skewed_limits(value, error, skewness, t)
    lowest, highest = bounds
    p, scaled = (value - lowest) / (highest - lowest), error / (highest - lowest)
    variance = max(0.0, p * (1 - p))
    trials = variance / scaled**2 if scaled > 0 and variance > 0 else float(clusters)
    low, high = (lowest + (highest - lowest) * min(1.0, max(0.0, end)) for end in wilson(p, trials, t))
    return low, high


def wilson(p: float, trials: float, t: float) -> tuple[float, float]:
    """Return Wilson's limits of a rate of so many trials."""
    variance = max(0.0, p * (1 - p))
    centre = (p + t**2 / (2 * trials)) / (1 + t**2 / trials)
    half = t * math.sqrt(variance / trials + (t / (2 * trials)) ** 2) / (1 + t**2 / trials)
    return centre - half, centre + half


def skewed_limits(value: float, error: float, skewness: float, t: float) -> tuple[float, float]:
    """Return the limits of a mean whose own distribution has ``skewness``: that of the values over sqrt(N).

    T = (value - truth) / error is skewed to the other side, which leaves value +- t error short on one. g(T) = T +
    a T^2 + a^2 T^3 / 3 + a / 2 with a = skewness / 3 is not (Hall 1992), and rises, so that T is between g's inverses
    of -t and t. An end is at most 2 t away: the skewness of a dozen values is mostly noise, and near the largest that
    they can have it would put an end beyond every one of them.
    """
    a = skewness / 3
    if abs(a) < 1e-6:
        return value - t * error, value + t * error
    below, above = ((math.cbrt(1 + 3 * a * (z - a / 2)) - 1) / a for z in (t, -t))
    return value - error * min(below, 2 * t), value - error * max(above, -2 * t)


Errors = tuple[np.ndarray, np.ndarray]  # FNR and FPR of every draw, both times positives * negatives


def _crossing(
    accepted: list[np.ndarray], counts: np.ndarray, positives: np.ndarray, negatives: np.ndarray
) -> tuple[np.ndarray, Errors, Errors]:
    """Return the last row of ``accepted`` at which FNR > FPR, for every draw, and the errors there and at the next.

    ``accepted``: positives and negatives of each cluster that the thresholds accept, two arrays [rows, clusters]. FNR >
    FPR holds at the first row and not at the last.
    """

    def errors(row: np.ndarray) -> Errors:
        hit, false = (np.einsum("dc,dc->d", counts, table[row]) for table in accepted)
        return (positives - hit) * negatives, false * positives

    low, high = np.zeros(len(counts), dtype=np.int64), np.full(len(counts), len(accepted[0]) - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        missed, false = errors(middle)
        above = missed > false
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low, errors(low), errors(high)


def _accepted(
    member: np.ndarray, threshold: np.ndarray, cluster: np.ndarray, first: int, number: int, clusters: int
) -> np.ndarray:
    """Members of each cluster at ``number`` thresholds from ``first`` on, summed up: [number + 1, clusters]."""
    start, end = np.searchsorted(threshold, [first, first + number])
    inside = member[start:end]
    steps = np.zeros((number + 1, clusters))
    np.add.at(steps, (threshold[start:end][inside] - first + 1, cluster[start:end][inside]), 1.0)
    return np.cumsum(steps, axis=0)


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator > 0)
