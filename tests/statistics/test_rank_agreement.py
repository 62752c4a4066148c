"""Rank agreement and power, against SciPy, statsmodels and a simulation."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from statsmodels.stats.power import NormalIndPower

from favor.statistics.bootstrap import observed, resample_counts
from favor.statistics.rank_agreement import (
    correlate,
    detectable_difference,
    drawn_authors,
    rank_correlations,
    split_half_error,
)


@pytest.fixture(scope="module")
def values() -> dict[str, np.ndarray]:
    """Three measures of five methods and seven authors; two of one group."""
    generator = np.random.default_rng(8)
    truth = generator.normal(size=(5, 7))
    return {name: truth + generator.normal(size=(5, 7)) for name in ("x.one", "x.two", "y.one")}


GROUPS = {"x.one": "x", "x.two": "x", "y.one": "y"}


def test_observed_correlations_are_scipys(values) -> None:
    draws = drawn_authors(observed(7))
    rest, pairs = rank_correlations(values, GROUPS, draws, "methods")
    means = {name: rows.mean(axis=1) for name, rows in values.items()}
    assert pairs["x.one", "y.one"][0] == pytest.approx(spearmanr(means["x.one"], means["y.one"]).statistic)
    # the only measure of another group than x is y, so x's rest is y
    assert rest["x.one"][0] == pytest.approx(pairs["x.one", "y.one"][0])
    _, pairs = rank_correlations(values, GROUPS, draws, "authors")
    expected = np.mean([spearmanr(a, b).statistic for a, b in zip(values["x.one"], values["x.two"], strict=True)])
    assert pairs["x.one", "x.two"][0] == pytest.approx(expected)


def test_draws_are_those_of_repeated_authors(values) -> None:
    counts = resample_counts(7, seed=2, draws=10)
    rest, _ = rank_correlations(values, GROUPS, drawn_authors(counts), "methods")
    for number, drawn in enumerate(counts.astype(int)):
        means = {name: np.repeat(rows, drawn, axis=1).mean(axis=1) for name, rows in values.items()}
        assert rest["x.two"][number] == pytest.approx(spearmanr(means["x.two"], means["y.one"]).statistic)


def test_a_measure_without_another_group_has_no_agreement(values) -> None:
    alone = {name: rows for name, rows in values.items() if name.startswith("x")}
    rest, _ = rank_correlations(alone, GROUPS, drawn_authors(observed(7)), "methods")
    assert np.isnan(rest["x.one"]).all()
    assert np.isnan(correlate(np.ones((1, 4)), np.arange(4.0)[None])).all()


def test_detectable_difference_has_the_power_it_names() -> None:
    found = detectable_difference(0.5)
    # two samples of n = 8 with standard deviation 1 differ with an error of sqrt(2 / 8) = .5
    power = NormalIndPower().power(found, nobs1=8, alpha=0.05, ratio=1.0)
    assert power == pytest.approx(0.8, abs=1e-3)
    assert found == pytest.approx(2.8016 * 0.5, abs=1e-4)


@pytest.mark.parametrize("texts", [6, 3])
def test_split_halves_give_the_error_of_a_difference(texts) -> None:
    generator = np.random.default_rng(9)
    errors, differences = [], []
    for _ in range(150):
        centres = generator.normal(0, 3.0, 10)
        one, two = (centres[:, None] + generator.normal(0, 1.0, (10, texts)) for _ in range(2))
        errors.append(split_half_error(list(one), generator, 5))
        differences.append(one.mean() - two.mean())
    # authors differ by far more than this, and it does not matter: both samples have the same ones
    assert np.mean(errors) == pytest.approx(np.std(differences), rel=0.15)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(2 / (10 * texts)), rel=0.05)
    assert np.isnan(split_half_error([np.ones(4), np.ones(1)], generator, 3))
