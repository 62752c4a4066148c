"""Limits of counts and ranks: published and hand-computed values, and coverage where the distribution is known."""

import numpy as np
import pytest
from scipy.stats import beta, binom, binomtest

from favor.statistics.attacks import exposure
from favor.statistics.bootstrap import observed_and_resampled
from favor.statistics.exact import binomial_limits, exponential_mean_limits, rate_limits


def test_limits_of_a_rate_by_hand() -> None:
    # One of one: the density of p is that of beta(3/2, 1/2), whose distribution is that of sin^2: with u = asin sqrt p,
    # (2 u - sin 2 u) / pi = .025.
    low, high = binomial_limits(1, 1)
    u = np.arcsin(low**0.5)
    assert (2 * u - np.sin(2 * u)) / np.pi == pytest.approx(0.025)
    assert high == 1.0
    assert binomial_limits(0, 1) == (0.0, pytest.approx(1 - low))
    # Between Clopper and Pearson's, of 3 of 10 .0667 and .6525 (R's binom.test), and those without x's own probability
    assert 0.0667 < binomial_limits(3, 10)[0] < beta.ppf(0.025, 4, 7) < beta.ppf(0.975, 3, 8)
    assert beta.ppf(0.975, 3, 8) < binomial_limits(3, 10)[1] < 0.6525


@pytest.mark.parametrize("trials", [6, 12, 24, 50])
def test_on_average_over_rates_the_limits_hold_95_percent(trials) -> None:
    """Without drawing: of every rate, the probability of the outcomes whose limits hold it."""
    low, high = np.array([binomial_limits(hits, trials) for hits in range(trials + 1)]).T
    exact = [binomtest(hits, trials).proportion_ci() for hits in range(trials + 1)]
    rates = np.linspace(0.05, 0.95, 181)[:, None]
    chance = binom.pmf(np.arange(trials + 1), trials, rates)
    held = (chance * ((low <= rates) & (rates <= high))).sum(axis=1)
    wider = np.array([(limits.low <= rates[:, 0]) & (rates[:, 0] <= limits.high) for limits in exact]).T
    assert held.mean() == pytest.approx(0.95, abs=0.01)
    assert (chance * wider).sum(axis=1).mean() > held.mean() + 0.01


def test_several_decisions_of_an_author_are_not_as_many_trials() -> None:
    counts = observed_and_resampled(6, 1, 2000)
    once = rate_limits(np.array([1.0, 1, 0, 1, 0, 1]), np.arange(6), counts)
    assert once == binomial_limits(4, 6)
    # Four copies of every decision say no more: the errors are those of six authors, so that n is 5.
    low, high = rate_limits(np.tile([1.0, 1, 0, 1, 0, 1], 4), np.tile(np.arange(6), 4), counts)
    trials = binomial_limits(16, 24)
    assert low < once[0] < trials[0] < trials[1] < high


@pytest.mark.parametrize("number", [3, 6, 12])
def test_exposure_of_secrets_that_nobody_saw_is_covered(number) -> None:
    ranks = np.random.default_rng(2).integers(1, 1001, size=(4000, number))
    bits = exposure(ranks, 999).mean(axis=1)
    chance = float(exposure(np.arange(1, 1001), 999).mean())
    limits = np.array([exponential_mean_limits(mean, number) for mean in bits])
    below, above = (limits[:, 1] < chance).mean(), (limits[:, 0] > chance).mean()
    assert 0.94 < 1 - below - above < 0.96
    assert below < 0.035
    assert above < 0.035
