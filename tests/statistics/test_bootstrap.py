"""The closed-form cluster bootstrap against resampling the pairs themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student_t
from sklearn.metrics import f1_score, roc_auc_score
from tests.statistics.rates import equal_error_rate

from favor.statistics import bootstrap
from favor.statistics.bootstrap import (
    auc,
    auc_draws,
    bootstrap_p,
    compare,
    eer_draws,
    interval,
    macro_f1_draws,
    mean_draws,
    observed,
    pair_auc_draws,
    resample_counts,
    win_counts,
)


@pytest.fixture(scope="module", params=[1, 9])
def pairs(request) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """400 pairs in 12 clusters; rounded to one decimal there are many ties."""
    generator = np.random.default_rng(5)
    positive = generator.random(400) < 0.3
    scores = np.round(generator.normal(0, 0.4, 400) + 0.3 * positive, request.param)
    return scores, positive, generator.integers(0, 12, 400)


def resampled(counts, cluster) -> np.ndarray:
    """Indices of the pairs of one draw, every pair as often as its cluster."""
    return np.repeat(np.arange(len(cluster)), counts[cluster].astype(int))


def test_counts() -> None:
    counts = resample_counts(7, seed=1, draws=500)
    assert counts.shape == (500, 7)
    assert (counts.sum(axis=1) == 7).all()
    np.testing.assert_array_equal(counts, resample_counts(7, seed=1, draws=500))
    assert (counts != resample_counts(7, seed=2, draws=500)).any()


def test_win_counts_by_hand() -> None:
    # cluster 0: positives .9 .4, negative .4; cluster 1: positive .2, negatives .1 .9
    scores = np.array([0.9, 0.4, 0.4, 0.2, 0.1, 0.9])
    positive = np.array([True, True, False, True, False, False])
    cluster = np.array([0, 0, 0, 1, 1, 1])
    # W[0,0]: .9>.4, .4=.4 -> 1.5; W[0,1]: .9>.1, .9=.9, .4>.1 -> 2.5; W[1,0]: 0; W[1,1]: .2>.1 -> 1
    assert win_counts(scores, positive, cluster, 2).tolist() == [[1.5, 2.5], [0.0, 1.0]]
    # cluster 0 twice, cluster 1 once: wins 4*1.5 + 2*2.5 + 0 + 1 = 12; pairs (2*2+1)(2*1+2) = 20
    assert auc_draws(scores, positive, cluster, np.array([[2.0, 1.0]]))[0] == pytest.approx(12 / 20)


def test_auc_equals_the_loop_over_resampled_pairs(pairs) -> None:
    scores, positive, cluster = pairs
    counts = resample_counts(12, seed=3, draws=60)
    draws = auc_draws(scores, positive, cluster, counts)
    for row, value in zip(counts, draws, strict=True):
        chosen = resampled(row, cluster)
        assert value == pytest.approx(roc_auc_score(positive[chosen], scores[chosen]), abs=1e-12)
    assert auc_draws(scores, positive, cluster, observed(12))[0] == pytest.approx(auc(scores, positive), abs=1e-12)


@pytest.mark.parametrize("cells", [bootstrap.TABLE_CELLS, 1], ids=["one table", "tables in parts"])
def test_eer_equals_the_loop_over_resampled_pairs(pairs, cells, monkeypatch) -> None:
    monkeypatch.setattr(bootstrap, "TABLE_CELLS", cells)
    scores, positive, cluster = pairs
    counts = resample_counts(12, seed=4, draws=300)
    draws = eer_draws(scores, positive, cluster, counts)
    for row, value in zip(counts, draws, strict=True):
        chosen = resampled(row, cluster)
        assert value == equal_error_rate(scores[chosen], positive[chosen])
    assert eer_draws(scores, positive, cluster, observed(12))[0] == equal_error_rate(scores, positive)


def test_means_equal_the_loop(pairs) -> None:
    scores, _, cluster = pairs
    counts = resample_counts(12, seed=5, draws=40)
    expected = [scores[resampled(row, cluster)].mean() for row in counts]
    np.testing.assert_allclose(mean_draws(scores, cluster, counts), expected, atol=1e-12)


def test_draws_without_a_class_are_missing() -> None:
    # cluster 0 holds the only positive: draws without it have no AUC
    scores, positive, cluster = np.array([0.5, 0.1, 0.2]), np.array([True, False, False]), np.array([0, 1, 1])
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(auc_draws(scores, positive, cluster, counts), [np.nan, np.nan, 1.0])
    eer = eer_draws(scores, positive, cluster, counts)
    np.testing.assert_array_equal(eer, [np.nan, np.nan, 0.0])
    assert np.isnan(eer_draws(scores[:0], positive[:0], cluster[:0], counts)).all()
    assert np.isnan(mean_draws(scores, np.array([0, 0, 0]), np.array([[0.0, 2.0]]))[0])


def test_p_value_by_hand() -> None:
    # 999 draws, 99 of them <= 0: q = .1, z = 1.2816; with 5 clusters t = z sqrt(4/5) = 1.1462, 4 degrees of freedom.
    draws = np.array([-1.0] * 99 + [1.0] * 900)
    assert bootstrap_p(0.5, draws, 5) == pytest.approx(2 * student_t.sf(1.281552 * 0.8**0.5, 4), abs=1e-5)
    assert bootstrap_p(-0.5, -draws, 5) == pytest.approx(bootstrap_p(0.5, draws, 5))
    assert bootstrap_p(0.5, np.array([np.nan, *draws]), 5) == pytest.approx(bootstrap_p(0.5, draws, 5))
    # No draw beyond 0: mean over standard deviation, 10, with 49 degrees of freedom.
    far = np.random.default_rng(0).normal(10, 1, 999)
    assert bootstrap_p(10 * far.std(), far, 50) == pytest.approx(2 * student_t.sf(10 * (49 / 50) ** 0.5, 49), rel=1e-6)
    # Six authors that all differ one way: the signs of six differences show 2 / 64, and nothing less.
    assert bootstrap_p(100.0, far, 6) == 2 / 64
    assert bootstrap_p(0.0, np.zeros(9), 6) == 1.0
    assert bootstrap_p(1.0, np.ones(9), 6) == 2 / 64
    assert np.isnan(bootstrap_p(1.0, np.array([np.nan]), 6))
    assert np.isnan(bootstrap_p(1.0, far, 1))


def test_an_interval_takes_wider_percentiles_with_few_clusters() -> None:
    draws = np.arange(100_001) / 1000  # percentile p is p
    # t(.975, 5) = 2.5706, times sqrt(6/5) = 2.8160: Phi = .99757
    assert interval(draws, 6) == pytest.approx((0.243, 99.757), abs=2e-3)
    assert interval(draws, 24) == pytest.approx((1.729, 98.271), abs=2e-3)
    assert interval(draws, 100_000) == pytest.approx((2.5, 97.5), abs=1e-3)
    assert np.isnan(interval(draws, 1)).all()


@pytest.mark.parametrize("authors", [6, 12, 24, 50])
def test_a_difference_that_is_nothing_is_found_as_often_as_the_level_says(authors) -> None:
    """Level and coverage of 400 null runs; percentiles of the draws themselves find 12 % with six authors."""
    generator = np.random.default_rng(authors)
    counts = resample_counts(authors, 1, 1000)
    found, plain = [], []
    for _ in range(400):
        own = generator.normal(size=authors)
        draws = counts @ own / authors
        result = compare(float(own.mean()), 0.0, draws, np.zeros(len(draws)), authors)
        found.append((result.p < 0.05, result.p < 0.0025, result.low <= 0 <= result.high))
        plain.append(not np.percentile(draws, 2.5) <= 0 <= np.percentile(draws, 97.5))
    rates = np.mean(found, axis=0)
    assert 0.025 <= rates[0] <= 0.075
    assert rates[1] <= 0.01
    assert 0.92 <= rates[2] <= 0.975
    if authors == 6:
        assert np.mean(plain) > 0.09


def test_comparison_is_signed_towards_the_left() -> None:
    left, right = np.array([0.30, 0.31, 0.29, 0.30]), np.array([0.35, 0.35, 0.36, 0.34])
    lower = compare(0.30, 0.35, left, right, 8, higher_is_better=False)
    assert lower.delta == pytest.approx(0.05)
    assert (lower.low, lower.high) == pytest.approx(interval(np.array([0.05, 0.04, 0.07, 0.04]), 8))
    higher = compare(0.30, 0.35, left, right, 8)
    assert (higher.delta, higher.low, higher.high) == pytest.approx((-lower.delta, -lower.high, -lower.low))
    assert lower.p == pytest.approx(higher.p)
    assert lower.draws == higher.draws == 4


def test_auc_of_pairs_equals_the_loop_over_resampled_pairs() -> None:
    generator = np.random.default_rng(2)
    owner = generator.integers(0, 6, 25)
    first, second = np.triu_indices(25, k=1)
    left, right = owner[first], owner[second]
    positive = left == right
    scores = np.round(generator.normal(0, 0.4, len(left)) + 0.3 * positive, 1)
    counts = np.concatenate([observed(6), resample_counts(6, seed=3, draws=40)])
    draws = pair_auc_draws(scores, left, right, counts)
    assert draws[0] == pytest.approx(roc_auc_score(positive, scores))
    for drawn, value in zip(counts, draws, strict=True):
        # a pair within a cluster as often as the cluster, one between two as often as their copies can meet
        often = np.where(positive, drawn[left], drawn[left] * drawn[right])
        assert value == pytest.approx(roc_auc_score(positive, scores, sample_weight=often))
    assert np.isnan(pair_auc_draws(scores[positive], left[positive], right[positive], counts)).all()
    nobody = np.zeros((1, 6))
    nobody[0, 2] = 6.0
    assert np.isnan(pair_auc_draws(scores, left, right, nobody)).all()  # one author: no negatives


def test_macro_f1_of_the_data_and_of_a_draw() -> None:
    """Author 0: two of three right, one as author 1. Author 1: one right, one as 0. Author 2 wrote nothing.

    F1_0 = 4 / (4 + 1 + 1) = 2/3 and F1_1 = 2 / (2 + 1 + 1) = 1/2; drawn twice, author 0 brings its mistake twice:
    F1_1 = 2 / (2 + 2 + 1) = 0.4, F1_0 without author 1 = 4 / 5.
    """
    true, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0])
    counts = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    drawn = macro_f1_draws(true, predicted, counts)
    assert drawn[0] == pytest.approx(f1_score(true, predicted, average="macro"))
    assert drawn[0] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert drawn[1] == pytest.approx((2 * 2 / 3 + 0.4) / 3)
    assert drawn[2] == pytest.approx(4 / 5)
    assert np.isnan(drawn[3])
