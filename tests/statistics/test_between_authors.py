"""Variance between authors without the noise of few texts, and the slope on a reference."""

import numpy as np
import pytest

from favor.statistics.between_authors import author_means, between_variance, mean_slope, post_means
from favor.statistics.bootstrap import observed, resample_counts


def test_by_hand() -> None:
    values = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]])
    cluster = np.array([0, 0, 1, 1, 2, 2])
    # means 1, 5, 9: sample variance 16; within: 2 a author, pooled 6 / 3 = 2; noise 2 / 2 = 1
    assert between_variance(values, cluster, observed(3)) == pytest.approx(np.array([[15.0]]))
    # authors 0 twice and 2 once: means 1, 1, 9: variance 64/3, times 3/2 as a draw of three authors; within the same
    drawn = between_variance(values, cluster, np.array([[2.0, 0.0, 1.0]]))
    assert drawn == pytest.approx(np.array([[64 / 3 * 3 / 2 - 1.0]]))
    reference = np.array([[0.0], [1.0], [2.0]])
    assert mean_slope(values, cluster, reference, observed(3)) == pytest.approx(np.array([[4.0]]))
    assert np.isnan(mean_slope(values, cluster, np.ones((3, 1)), observed(3))).all()
    # one author alone, and one text of each: nothing to tell variance or noise by
    assert np.isnan(between_variance(values, cluster, np.array([[1.0, 0.0, 0.0]]))).all()
    assert np.isnan(between_variance(values[::2], np.arange(3), observed(3))).all()


def test_rows_on_one_post_are_one() -> None:
    values = np.array([[1.0], [3.0], [5.0], [7.0], [9.0]])
    means, cluster = post_means(values, np.array([1, 0, 1, 1, 0]), np.array(["p", "p", "p", "q", "r"], dtype=object))
    assert means.tolist() == [[3.0], [9.0], [3.0], [7.0]]  # author 0 on p and r, author 1 on p (1 and 5) and q
    assert cluster.tolist() == [0, 0, 1, 1]
    empty = post_means(np.zeros((0, 2)), np.zeros(0, dtype=np.int64), np.array([], dtype=object))
    assert (empty[0].shape, empty[1].shape) == ((0, 2), (0,))


def test_an_author_without_texts_is_left_out() -> None:
    values, cluster = np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([0, 0, 2, 2])
    means, sizes = author_means(values, cluster, 3)
    assert np.isnan(means[1]).all()
    assert sizes.tolist() == [2, 0, 2]
    found = between_variance(values, cluster, observed(3))
    assert found == pytest.approx(between_variance(values, cluster // 2, observed(2)))
    slope = mean_slope(values, cluster, np.array([[0.0], [50.0], [1.0]]), observed(3))
    assert slope == pytest.approx(np.array([[4.0]]))


def test_the_estimate_has_no_bias_and_the_plain_variance_has() -> None:
    generator = np.random.default_rng(3)
    found = []
    for _ in range(400):
        centres = generator.normal(0, 1.0, 12)
        cluster = np.repeat(np.arange(12), generator.integers(2, 5, 12))
        values = (centres[cluster] + generator.normal(0, 2.0, len(cluster)))[:, None]
        means, _ = author_means(values, cluster, 12)
        found.append((between_variance(values, cluster, observed(12))[0, 0], means.var(ddof=1)))
    corrected, plain = np.mean(found, axis=0)
    assert corrected == pytest.approx(1.0, abs=0.1)
    assert plain > 2.0


def test_draws_are_those_of_repeated_authors() -> None:
    generator = np.random.default_rng(4)
    cluster = np.repeat(np.arange(5), 3)
    values, reference = generator.normal(size=(15, 2)), generator.normal(size=(5, 2))
    counts = resample_counts(5, seed=1, draws=20)
    variances, slopes = between_variance(values, cluster, counts), mean_slope(values, cluster, reference, counts)
    for number, drawn in enumerate(counts.astype(int)):
        chosen = np.repeat(np.arange(5), drawn)
        means = np.stack([values[cluster == author].mean(axis=0) for author in chosen])
        within = np.mean([values[cluster == author].var(axis=0, ddof=1) for author in chosen], axis=0)
        once = 1.0 if (drawn == 1).all() else 5 / 4  # a draw of five authors has 4/5 of their variance
        np.testing.assert_allclose(variances[number], once * means.var(axis=0, ddof=1) - within / 3, atol=1e-12)
        if len(set(chosen)) > 1:
            expected = [np.polyfit(reference[chosen, place], means[:, place], 1)[0] for place in (0, 1)]
            np.testing.assert_allclose(slopes[number], expected)
