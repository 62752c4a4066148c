"""Intervals and p of paired differences: by hand, against scipy, and against the sign-flip test."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import t as student_t
from scipy.stats import ttest_1samp

from favor.statistics.bootstrap import (
    half_width_of_seeds,
    interval,
    mean_draws,
    observed_and_resampled,
    variance_of_seeds,
)
from favor.statistics.differences import Comparison, compare, effective_number
from favor.statistics.sign_flips import author_sums, sign_flip_p


def of_authors(own, span=math.inf, higher=True) -> Comparison:
    """Compare one value per author with 0."""
    counts = observed_and_resampled(len(own), 1, 400)
    drawn = counts @ own / len(own)
    return compare(drawn, np.zeros_like(drawn), np.ones(len(own)), counts, own, 1, higher, span)


def test_equal_authors_have_the_interval_of_student() -> None:
    own = np.random.default_rng(1).normal(0.5, 1, 12)
    found, wanted = of_authors(own), ttest_1samp(own, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert found.p == sign_flip_p(own, 1)
    turned = of_authors(own, higher=False)
    assert (turned.delta, turned.low, turned.high, turned.p) == pytest.approx(
        (-found.delta, -found.high, -found.low, found.p)
    )


def test_one_far_author_does_not_stretch_one_side() -> None:
    """.25 three times, -.75 once and eight zeros: Student's is 0 +- .166, by hand.

    Squares .1875 + .5625 = .75, variance .75 / 11, error sqrt(.75 / 11 / 12) = .07538, t(.975, 11) = 2.2010.
    """
    found = of_authors(np.array([0.25, 0.25, 0.25, -0.75, *[0.0] * 8]), span=1.0)
    assert (found.low, found.high) == pytest.approx((-0.1659, 0.1659), abs=1e-4)


def test_unequal_authors_have_the_degrees_of_freedom_of_their_weights() -> None:
    """Weights 1, 1, 2, 4: 8^2 / 22 = 2.909 authors. Error: sqrt(sum w^2 (d - delta)^2) / 8 * sqrt(N / (N - 1))."""
    weights, own = np.array([1, 1, 2, 4]), np.array([0.5, -0.5, 1.0, 2.0])
    number = effective_number(weights)
    assert number == pytest.approx(64 / 22)
    author = np.repeat(np.arange(4), weights)
    counts = observed_and_resampled(4, 1, 200_000)
    drawn, values = mean_draws(own[author], author, counts), own[author]
    found = compare(drawn, np.zeros_like(drawn), weights, counts, author_sums(values, author, 4), 1)
    error = math.sqrt((weights**2 * (own - 1.25) ** 2).sum()) / 8 * math.sqrt(number / (number - 1))
    half = student_t.ppf(0.975, number - 1) * error
    assert found.high - found.delta == pytest.approx(half, rel=0.2)  # the jackknife's slopes are of four authors
    assert found.low <= 0 <= found.high
    assert found.p >= 0.05


def test_an_interval_stays_within_the_span() -> None:
    found = of_authors(np.array([1.0, 0.0, 0.0, 0.0]), span=1.0)
    assert (found.low, found.high) == (pytest.approx(0.25 - student_t.ppf(0.975, 3) * 0.25), 1.0)


def test_authors_who_do_not_differ_leave_open_what_their_number_does() -> None:
    # 6 authors: 1 - .05^(1/6) = .3930 of the authors may be others. All right against all wrong: 1 - .3930 * 2.
    found = of_authors(np.ones(6), span=1.0)
    assert (found.low, found.high) == pytest.approx((1 - 2 * 0.39304, 1.0), abs=1e-4)
    assert found.p == 2 / 2**6
    nothing = of_authors(np.zeros(6), span=1.0)
    assert (nothing.low, nothing.high) == pytest.approx((-0.39304, 0.39304), abs=1e-4)
    assert nothing.p == 1.0
    # With four no p is below .125: 0 is in the interval. Without a span nothing is known.
    assert of_authors(np.ones(4), span=1.0).low <= 0
    assert np.isnan(of_authors(np.full(6, 0.3)).low)


def test_p_decides_whether_zero_is_inside() -> None:
    """400 draws of 4 to 13 authors, ties and far ones too: 0 is inside where p is .05 or more, and not elsewhere."""
    generator = np.random.default_rng(2)
    moved = 0
    for run in range(400):
        authors = 4 + run % 10
        own = generator.standard_t(2, authors) + 0.8 if run % 2 else generator.integers(-1, 4, authors) / 4
        found = of_authors(own, math.inf if run % 2 else 1.0)
        if math.isnan(found.low):
            continue
        assert (found.low <= 0 <= found.high) == (found.p >= 0.05)
        assert found.low <= found.delta + 1e-12
        assert found.delta - 1e-12 <= found.high
        plain = ttest_1samp(own, 0.0).pvalue
        moved += (plain >= 0.05) != (found.p >= 0.05)
    assert moved > 5


def test_an_end_that_moves_is_where_the_flips_begin_to_reject() -> None:
    own = np.array([0.1, 0.1, 0.2, 0.1, 0.2, 0.1, 0.3, 8.0])
    found = of_authors(own)
    assert found.p == 2 / 2**8
    assert ttest_1samp(own, 0.0).pvalue > 0.05
    assert 0 < found.low < found.delta
    assert sign_flip_p(own - found.low * 0.999, 1) < 0.05 <= sign_flip_p(own - found.low * 1.001, 1)


def by_seeds(values) -> tuple[np.ndarray, np.ndarray]:
    """Return draws by seed and the counts of values [seeds, authors]."""
    counts = observed_and_resampled(values.shape[1], 1, 20_000)
    return values @ counts.T / values.shape[1], counts


def test_variance_of_seeds_is_that_of_crossed_random_effects() -> None:
    """(MS_seeds - MS_rest) / authors / seeds of the two-way analysis of variance, by its sums of squares."""
    generator = np.random.default_rng(3)
    values = generator.normal(0, 1, (4, 1)) + generator.normal(0, 0.5, (1, 10)) + generator.normal(0, 0.3, (4, 10))
    drawn, _ = by_seeds(values)
    rest = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
    of_seeds = 10 * values.mean(1).var(ddof=1)
    wanted = (of_seeds - (rest**2).sum() / 27) / 10 / 4
    assert variance_of_seeds(drawn, 10) == pytest.approx(wanted, rel=0.01)
    assert half_width_of_seeds(drawn, 10) == pytest.approx(student_t.ppf(0.975, 3) * wanted**0.5, rel=0.01)
    # Two seeds say nothing of it, and of the same values in every seed there is none.
    assert variance_of_seeds(drawn[:2], 10) == 0.0
    assert variance_of_seeds(np.repeat(drawn[:1], 4, axis=0), 10) == 0.0
    # One seed without an output: no draw is known in all of them, and no warning of numpy says so.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert variance_of_seeds(np.where(np.arange(4)[:, None] == 2, np.nan, drawn), 10) == 0.0


def test_seeds_widen_an_interval_in_squares_and_raise_p() -> None:
    generator = np.random.default_rng(4)
    values = np.array([[1.2], [0.3], [0.6]]) + generator.normal(0, 0.2, (1, 12)) + generator.normal(0, 0.1, (3, 12))
    drawn, counts = by_seeds(values)
    shares = values.mean(axis=0)
    alone = compare(drawn.mean(0), np.zeros(drawn.shape[1]), np.ones(12), counts, shares, 1)
    both = compare(drawn, np.zeros_like(drawn), np.ones(12), counts, shares, 1)
    assert alone.p == 2 / 2**12
    half = math.hypot(alone.high - alone.delta, half_width_of_seeds(drawn, 12))
    assert (both.low, both.high) == pytest.approx((both.delta - half, both.delta + half))
    assert (both.p < 0.05) == (both.low > 0)
    assert both.p > 0.01
    far = compare(drawn + 100, np.zeros_like(drawn), np.ones(12), counts, shares + 100, 1)
    assert far.p == 2 / 2**12  # however seeds differ
    # p is the level at which the interval would end at 0.
    spread = (alone.high - alone.delta) / student_t.ppf(0.975, 11)
    seeds = variance_of_seeds(drawn, 12) ** 0.5
    end = [student_t.isf(both.p / 2, freedom) * error for freedom, error in ((11, spread), (2, seeds))]
    assert math.hypot(*end) == pytest.approx(both.delta)
    low, high = interval(drawn, 12)
    assert low < interval(drawn.mean(0), 12)[0]
    assert high > interval(drawn.mean(0), 12)[1]
