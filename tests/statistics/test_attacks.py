"""Statistics of attacks against numbers worked out by hand, and against scikit-learn, SciPy and numerical integrals."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm, spearmanr
from sklearn.metrics import roc_curve

from favor.statistics.attacks import exposure, privacy_loss, privacy_loss_bound, rank_correlation_draws, tpr_draws
from favor.statistics.bootstrap import observed, resample_counts


def tpr(scores, positive, rate) -> float:
    """The rate of the data itself."""
    return tpr_draws(scores, positive, np.zeros(len(scores), dtype=np.int64), observed(1), rate)[0]


def test_exposure_counts_the_bits_that_a_rank_saves() -> None:
    # 1,023 candidates and the secret are 2^10: first of them is 10 bits, last none, the 32nd 10 - 5.
    assert exposure(np.array([1, 32, 1024]), 1023).tolist() == [10.0, 5.0, 0.0]
    # Where every rank is as likely as another the mean tends to 1 / ln 2 = 1.44 bits.
    assert exposure(np.arange(1, 100_001), 99_999).mean() == pytest.approx(1 / np.log(2), abs=1e-3)


def test_true_positives_at_a_false_positive_rate_by_hand() -> None:
    scores = np.array([9.0, 8.0, 7.0, 6.0, 6.0, 5.0, 4.0, 3.0])
    positive = np.array([True, True, False, True, False, True, False, False])
    # Negatives at 7, 6, 4, 3. None may pass: 2 of 4 positives lie above 7. One of four: the threshold 6 would let a
    # second one in, so it stays at 7. Two of four: 6 is allowed, then 5.
    assert tpr(scores, positive, 0.01) == 0.5
    assert tpr(scores, positive, 0.25) == 0.5
    assert tpr(scores, positive, 0.5) == 1.0
    assert np.isnan(tpr(scores[positive], positive[positive], 0.01))


@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_true_positive_rate_equals_scikit_learns_curve(rate) -> None:
    generator = np.random.default_rng(0)
    positive = generator.random(900) < 0.4
    scores = np.round(generator.normal(size=900) + positive, 2)
    false, true, _ = roc_curve(positive, scores, drop_intermediate=False)
    assert tpr(scores, positive, rate) == pytest.approx(true[false <= rate].max())


def test_a_draw_of_clusters_gives_the_rate_of_the_resampled_texts() -> None:
    generator = np.random.default_rng(1)
    cluster = generator.integers(0, 6, size=80)
    positive = generator.random(80) < 0.5
    scores = np.round(generator.normal(size=80) + positive, 1)
    counts = resample_counts(6, 3, draws=40)
    for row, found in zip(counts, tpr_draws(scores, positive, cluster, counts, 0.1), strict=True):
        copies = np.repeat(np.arange(80), row[cluster].astype(int))
        assert found == pytest.approx(tpr(scores[copies], positive[copies], 0.1), nan_ok=True)


def test_rank_correlation_is_spearmans() -> None:
    generator = np.random.default_rng(2)
    left, right = generator.normal(size=(2, 20)).round(1)
    assert rank_correlation_draws(left, right, observed(20))[0] == pytest.approx(spearmanr(left, right).statistic)


def test_privacy_loss_of_equal_variances_is_the_gaussian_mechanisms() -> None:
    # Balle and Wang 2018, Theorem 8: delta = Phi(m / 2 - eps / m) - e^eps Phi(-m / 2 - eps / m) for N(0, 1), N(m, 1).
    def gaussian(epsilon, mean, delta) -> float:
        return norm.cdf(mean / 2 - epsilon / mean) - np.exp(epsilon) * norm.cdf(-mean / 2 - epsilon / mean) - delta

    for mean in (0.5, 1.0, 3.0):
        expected = brentq(gaussian, 0, 50, args=(mean, 1e-3), xtol=1e-12)
        assert privacy_loss(np.array([mean]), np.array([1.0]), 1e-3)[0] == pytest.approx(expected, rel=1e-8)
        assert privacy_loss(np.array([-mean]), np.array([1.0]), 1e-3)[0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("mean", "deviation"), [(2.0, 0.5), (2.0, 1.7), (0.0, 1.5), (0.3, 0.9)])
def test_privacy_loss_of_unequal_variances_against_an_integral(mean, deviation) -> None:
    grid = np.linspace(-40, 40, 2_000_001)
    step = grid[1] - grid[0]
    p, q = norm.pdf(grid, mean, deviation), norm.pdf(grid)
    (epsilon,) = privacy_loss(np.array([mean]), np.array([deviation]), 0.02)
    excess = [np.maximum(one - np.exp(epsilon) * other, 0).sum() * step for one, other in ((p, q), (q, p))]
    assert max(excess) == pytest.approx(0.02, abs=1e-6)


def test_privacy_loss_of_what_cannot_be_told_apart_is_nothing_and_of_what_is_far_is_large() -> None:
    assert privacy_loss(np.array([0.0]), np.array([1.0]), 1e-3)[0] == 0.0
    # Far apart epsilon is about m^2 / 2 + z m with P(N > z) = delta, here z = 3.09 below: m^2 / 2 + 3.09 m - ...
    (far,) = privacy_loss(np.array([100.0]), np.array([1.0]), 1e-3)
    assert far == pytest.approx(100**2 / 2 + norm.isf(1e-3) * 100, rel=1e-3)


def test_the_bound_of_the_privacy_loss_is_nothing_where_nothing_leaks() -> None:
    """The estimate itself exceeds 0 in most of these runs; the bound may in one of 20."""
    generator, delta = np.random.default_rng(4), 50**-1.1
    runs = generator.standard_normal((200, 20))
    bounds = np.array([privacy_loss_bound(values, delta) for values in runs])
    assert (bounds > 0).mean() <= 0.05
    assert (privacy_loss(runs.mean(axis=1), runs.std(axis=1), delta) > 0).mean() > 0.5


@pytest.mark.slow(7)
def test_the_bound_of_the_privacy_loss_is_below_the_truth_and_near_it() -> None:
    generator, delta = np.random.default_rng(5), 50**-1.1
    for mean, deviation in ((1.0, 1.0), (3.0, 1.0), (3.0, 0.5)):
        truth = privacy_loss(np.array([mean]), np.array([deviation]), delta)[0]
        bounds = np.array([privacy_loss_bound(generator.normal(mean, deviation, 100), delta) for _ in range(40)])
        assert (bounds <= truth).mean() >= 0.95
        assert np.median(bounds) > 0.5 * truth
    assert np.isnan(privacy_loss_bound(np.array([1.0]), delta))
    assert privacy_loss_bound(np.full(5, 3.0), delta) > 1  # no spread at all
