"""The sign-flip test: by hand, against scipy's permutation test, and against every pattern of signs."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test, spearmanr

from favor.statistics import sign_flips
from favor.statistics.bootstrap import auc_draws, mean_draws, observed_and_resampled
from favor.statistics.sign_flips import EXACT, FLIPS, author_sums, least_p, linear_shares, sign_flip_p


@pytest.mark.parametrize(
    ("sums", "p"),
    [
        # Sums of ±3 ±2 ±1: 6, 4, 2, 0, 0, -2, -4, -6. Two of eight are as far from 0 as 6, four as 4, six as 2.
        ([3, 2, 1], 2 / 8),
        ([3, 2, -1], 4 / 8),
        ([3, -2, 1], 6 / 8),
        ([3, -2, -1], 1.0),
        # An author without a difference, or without an output, shows nothing: of 16 patterns 4 are as far as 6.
        ([3, 2, 1, 0], 2 / 8),
        ([0, 0, 0], 1.0),
        # .1 + .2 - .3 is 5.6e-17 in floating point: all eight sums are ±.6, ±.4, ±.2 or 0, and 0 is as far as that.
        ([0.1, 0.2, -0.3], 1.0),
        ([3], np.nan),
        ([3, np.nan], np.nan),
    ],
)
def test_few_authors_by_hand(sums, p) -> None:
    np.testing.assert_equal(sign_flip_p(np.array(sums, dtype=float), 1), p)


def test_the_least_p_is_reached_where_all_signs_agree() -> None:
    for authors in (2, 6, 13, EXACT):
        assert sign_flip_p(np.linspace(0.1, 0.2, authors), 1) == least_p(authors) == 2 / 2**authors
    assert sign_flip_p(np.linspace(0.1, 0.2, EXACT + 1), 1) == least_p(EXACT + 1) == 1 / 20_000


@pytest.mark.parametrize("authors", [2, 5, 8, 11])
def test_every_pattern_is_counted_as_scipy_does(authors) -> None:
    generator = np.random.default_rng(authors)
    for values in (generator.normal(0.4, 1, authors), generator.integers(-2, 4, authors) / 4):  # with ties, too
        of_all = permutation_test(
            (values,), np.sum, permutation_type="samples", alternative="two-sided", n_resamples=np.inf, vectorized=False
        )
        assert sign_flip_p(values, 1) == pytest.approx(min(1.0, of_all.pvalue), abs=1e-12)


def test_drawn_patterns_come_near_the_exact_p_and_hang_on_the_seed(monkeypatch) -> None:
    values = np.random.default_rng(3).normal(0, 1, 20) + 0.5
    exact = sign_flip_p(values, 1)
    assert 0.005 < exact < 0.3
    monkeypatch.setattr(sign_flips, "EXACT", 19)
    drawn = sign_flip_p(values, 1)
    assert drawn == pytest.approx(exact, abs=5 * (exact * (1 - exact) / FLIPS) ** 0.5)
    assert drawn == sign_flip_p(values, 1) != sign_flip_p(values, 2)


def test_sums_are_what_changing_places_gives() -> None:
    """Authors with one, two and three outputs: signs turn where an author's outputs change places between methods."""
    author = np.repeat([0, 1, 2], [1, 2, 3])
    left, right = np.array([1.0, 1, 0, 1, 1, 1]), np.array([0.0, 1, 0, 0, 1, 0])
    sums = author_sums(left - right, author, 3)
    np.testing.assert_array_equal(sums, [1, 0, 2])
    swapped = []
    for pattern in product((False, True), repeat=3):
        turned = np.array(pattern)[author]
        swapped.append(np.where(turned, right, left).mean() - np.where(turned, left, right).mean())
    hits = np.abs(swapped) >= (left - right).mean() - 1e-12
    assert sign_flip_p(sums, 1) == hits.mean() == 4 / 8


def test_shares_in_a_mean_are_the_authors_own_differences() -> None:
    own = np.array([0.3, -0.1, 0.4, 0.0, 0.2, 0.6])
    counts = observed_and_resampled(6, 1, 200)
    np.testing.assert_allclose(linear_shares(counts @ own / 6, counts, np.full(6, 4)), own, atol=1e-12)
    assert np.isnan(linear_shares(np.full(201, np.nan), counts, np.full(6, 4))).all()
    assert np.isnan(linear_shares(np.zeros(201), counts, np.zeros(6))).all()


def test_an_author_without_outputs_has_no_share() -> None:
    """Five authors of one sign and one without outputs: p is that of five, 2 / 32, and not of six."""
    author, values = np.repeat(np.arange(5), 2), np.repeat([0.3, 0.1, 0.4, 0.3, 0.2], 2)
    counts = observed_and_resampled(6, 1, 400)
    shares = linear_shares(mean_draws(values, author, counts), counts, np.array([2, 2, 2, 2, 2, 0]))
    assert shares[5] == 0
    np.testing.assert_allclose(shares[:5], [0.3, 0.1, 0.4, 0.3, 0.2], atol=0.01)
    assert sign_flip_p(shares, 1) == pytest.approx(2 / 32)


def test_shares_in_an_auc_come_near_the_p_of_changing_places() -> None:
    """In 40 pairs of methods, each author's outputs change places in all 2^8 ways: the p of both agree but for chance.

    An AUC pairs authors, so what changes places for one moves the others' pairs: the two tests are not the same.
    """
    generator = np.random.default_rng(4)
    authors, pairs = 8, 20
    cluster = np.repeat(np.arange(authors), pairs)
    positive = np.tile(np.arange(pairs) < pairs // 2, authors)
    counts = observed_and_resampled(authors, 1, 1000)
    patterns = np.array(list(product((0.0, 1.0), repeat=authors)))
    places = np.concatenate([cluster, authors + cluster])
    found = []
    for gain in np.linspace(0.0, 1.2, 40):
        sides = [generator.normal(size=len(cluster)) + more * positive for more in (1 + gain, 1.0)]
        both = (auc_draws(scores, positive, cluster, counts) for scores in sides)
        p = sign_flip_p(linear_shares(np.subtract(*both), counts, np.full(authors, pairs)), 1)
        # Sixteen clusters, of which a pattern takes each author's own or the other method's.
        stacked = np.concatenate(sides), np.tile(positive, 2), places
        ways = ([1 - patterns, patterns], [patterns, 1 - patterns])
        swapped = np.subtract(*(auc_draws(*stacked, np.hstack(way)) for way in ways))
        found.append((p, (np.abs(swapped) >= abs(swapped[0]) - 1e-12).mean()))
    ours, exact = np.array(found).T
    assert np.log2(ours / exact).mean() == pytest.approx(0, abs=0.25)
    assert spearmanr(ours, exact).statistic > 0.95
    assert ours[0] > 0.05 > ours[-1]
