"""The closed-form cluster bootstrap against resampling the pairs themselves."""

import numpy as np
import pytest
from scipy.stats import rankdata, sem, skew
from scipy.stats import t as student_t
from sklearn.metrics import f1_score, roc_auc_score

from favor.statistics import bootstrap
from favor.statistics.bootstrap import (
    CORRELATION,
    RATE,
    auc,
    auc_draws,
    eer_draws,
    influences,
    interval,
    macro_f1_draws,
    mean_draws,
    observed,
    observed_and_resampled,
    pair_auc_draws,
    resample_counts,
    skewed_limits,
    standard_error,
    student_limits,
    win_counts,
)
from favor.statistics.rank_agreement import correlate, drawn_authors
from favor.statistics.roc import Roc


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


def test_auc_and_means_equal_the_loop_over_resampled_pairs(pairs) -> None:
    scores, positive, cluster = pairs
    counts = resample_counts(12, seed=3, draws=60)
    draws = auc_draws(scores, positive, cluster, counts), mean_draws(scores, cluster, counts)
    for row, area, mean in zip(counts, *draws, strict=True):
        chosen = resampled(row, cluster)
        assert area == pytest.approx(roc_auc_score(positive[chosen], scores[chosen]), abs=1e-12)
        assert mean == pytest.approx(scores[chosen].mean(), abs=1e-12)
    assert auc_draws(scores, positive, cluster, observed(12))[0] == pytest.approx(auc(scores, positive), abs=1e-12)


@pytest.mark.parametrize("cells", [bootstrap.TABLE_CELLS, 1], ids=["one table", "tables in parts"])
def test_eer_equals_the_loop_over_resampled_pairs(pairs, cells, monkeypatch) -> None:
    monkeypatch.setattr(bootstrap, "TABLE_CELLS", cells)
    scores, positive, cluster = pairs
    counts = resample_counts(12, seed=4, draws=100)
    draws = eer_draws(scores, positive, cluster, counts)
    for row, value in zip(counts, draws, strict=True):
        chosen = resampled(row, cluster)
        assert value == Roc.of(scores[chosen], positive[chosen]).equal_error_rate()
    assert eer_draws(scores, positive, cluster, observed(12))[0] == Roc.of(scores, positive).equal_error_rate()


def test_draws_without_a_class_are_missing() -> None:
    # cluster 0 holds the only positive: draws without it have no AUC
    scores, positive, cluster = np.array([0.5, 0.1, 0.2]), np.array([True, False, False]), np.array([0, 1, 1])
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(auc_draws(scores, positive, cluster, counts), [np.nan, np.nan, 1.0])
    eer = eer_draws(scores, positive, cluster, counts)
    np.testing.assert_array_equal(eer, [np.nan, np.nan, 0.0])
    assert np.isnan(eer_draws(scores[:0], positive[:0], cluster[:0], counts)).all()
    assert np.isnan(mean_draws(scores, np.array([0, 0, 0]), np.array([[0.0, 2.0]]))[0])


def test_the_standard_error_by_hand() -> None:
    # Draws 2 and 0 deviate by 1. With 4 clusters the error is sqrt(4/3).
    assert standard_error(np.array([2.0, 2.0, 0.0]), 4) == pytest.approx((4 / 3) ** 0.5)
    assert standard_error(np.array([2.0, np.nan, 2.0, 0.0]), 4) == pytest.approx((4 / 3) ** 0.5)
    assert np.isnan(standard_error(np.array([2.0, 2.0, 0.0]), 1))


def test_an_interval_of_means_that_are_not_skewed_is_that_of_student() -> None:
    own = np.array([0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    draws = observed_and_resampled(6, 1, 200_000) @ own / 6
    # mean 5, variance 70 / 5 = 14, error sqrt(14 / 6) = 1.5275, t(.975, 5) = 2.5706: 5 -+ 3.927
    assert interval(draws, 6) == pytest.approx((1.073, 8.927), abs=0.02)
    assert student_limits(draws, 6) == pytest.approx((1.073, 8.927), abs=0.02)
    assert interval(np.full(9, 0.25), 6) == (0.25, 0.25)
    assert np.isnan(interval(draws, 1)).all()
    assert np.isnan(interval(np.array([np.nan, 1.0, 2.0]), 6)).all()


def test_a_skewed_mean_has_the_limits_of_hall() -> None:
    """1, 2, 4, 7, 11, 5: deviations -4 -3 -1 2 6 0, cubes -64 -27 -1 8 216 0, error sqrt(66 / 5 / 6) = 1.4832.

    Skewness 22 / 11^1.5 = .6030, of the mean .6030 / sqrt(6) = .2462, a = .08206, t = 2.5706. 3 a (t - a / 2) = .6227
    and 3 a (-t - a / 2) = -.6429; (1.6227^(1/3) - 1) / a = 2.134, (.3571^(1/3) - 1) / a = -3.540.
    """
    own = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 5.0])
    counts = observed_and_resampled(6, 1, 300)
    low, high = interval(counts @ own / 6, 6, counts=counts)
    assert (low, high) == pytest.approx((5 - 1.4832 * 2.134, 5 + 1.4832 * 3.540), abs=2e-3)
    assert interval(observed_and_resampled(6, 1, 500_000) @ own / 6, 6) == pytest.approx((low, high), abs=0.08)
    # Hall's transformed T is t at one end and -t at the other.
    a, error, t = skew(own) / 6**0.5 / 3, sem(own), student_t.ppf(0.975, 5)
    transformed = [((1 + a * T) ** 3 - 1) / (3 * a) + a / 2 for T in ((5 - low) / error, (5 - high) / error)]
    assert transformed == pytest.approx([t, -t], abs=1e-6)
    # turned round, the limits are
    assert interval(counts @ -own / 6, 6, counts=counts) == pytest.approx((-high, -low))


def test_one_far_author_moves_no_end_beyond_twice_students() -> None:
    """Eleven 0 and a 12: mean 1, error sqrt(132 / 11 / 12) = 1, skewness 110 / 11^1.5 = 3.015, over sqrt(12) .8704.

    a = .2901; 3 a (2.201 - a / 2) = 1.7894; (2.7894^(1/3) - 1) / a = 1.405. On the other side Hall's is 3.17 t.
    """
    assert skewed_limits(1.0, 1.0, 0.8704, 2.201) == pytest.approx((1 - 1.405, 1 + 2 * 2.201), abs=1e-3)
    assert skewed_limits(-1.0, 1.0, -0.8704, 2.201) == pytest.approx((-1 - 2 * 2.201, -1 + 1.405), abs=1e-3)


def test_with_counts_the_error_of_a_mean_is_exact() -> None:
    own = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 5.0])
    counts = observed_and_resampled(6, 1, 300)
    assert standard_error(counts @ own / 6, 6, counts) == pytest.approx(sem(own), abs=1e-9)
    np.testing.assert_allclose(influences(counts @ own / 6, counts, np.ones(6, dtype=bool)), own - 5, atol=1e-9)
    # A seventh who has nothing changes nothing.
    wider = np.column_stack([observed_and_resampled(7, 1, 300)[:, :6], np.zeros(301)])
    draws = wider @ [*own, 0] / wider.sum(axis=1)
    found = influences(draws, wider, np.arange(7) < 6)
    np.testing.assert_allclose(found, [*(own - 5), 0], atol=0.3)
    assert found[6] == 0


def test_slopes_and_pairs_of_few_clusters_scatter_less_than_their_draws() -> None:
    """Six authors, 200 times: the deviation of a correlation's draws is above that of the correlations themselves."""
    generator = np.random.default_rng(1)
    counts = observed_and_resampled(6, 1, 300)
    places = drawn_authors(counts)
    values, errors = [], []
    for _ in range(200):
        left, right = generator.normal(size=(2, 6))
        draws = correlate(rankdata(left[places], axis=-1), rankdata(right[places], axis=-1))
        values.append(draws[0])
        errors.append((standard_error(draws, 6), standard_error(draws, 6, counts)))
    loose, fitted = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(values)
    assert 0.8 < fitted < 1.1 < loose


def test_an_interval_of_a_rate_is_that_of_wilson_and_stays_within_it() -> None:
    # Every author with one output: errors of authors are those of trials, so n is N - 1 = 19 for 4 of 20 right.
    own = np.repeat([1.0, 0.0], [4, 16])
    draws = observed_and_resampled(20, 1, 200_000) @ own / 20
    t, n, p = student_t.ppf(0.975, 19), 19, 0.2
    half = t * (p * (1 - p) / n + (t / (2 * n)) ** 2) ** 0.5
    expected = [(p + t**2 / (2 * n) + sign * half) / (1 + t**2 / n) for sign in (-1, 1)]
    assert interval(draws, 20, RATE) == pytest.approx(expected, abs=2e-3)
    # All right: n is N. (1 + t^2 / 2n -+ t^2 / 2n) / (1 + t^2 / n) = 1 / (1 + t^2 / 20), and 1
    assert interval(np.ones(9), 20, RATE) == pytest.approx((1 / (1 + t**2 / 20), 1.0))
    assert interval(np.zeros(9), 20, RATE) == pytest.approx((0.0, 1 - 1 / (1 + t**2 / 20)))
    # A correlation is a rate on another scale.
    assert interval(2 * draws - 1, 20, CORRELATION) == pytest.approx([2 * end - 1 for end in expected], abs=4e-3)


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
