"""A claim is shown, ruled out or open; its p agrees with the interval that is printed."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, norm

from favor.analysis.claims import (
    decisions,
    differences_apart,
    p_of_limits,
    p_of_rate,
    p_of_share,
    rate_found,
    rates_above,
    settle,
)
from favor.statistics.bootstrap import RATE, interval, mean_draws, observed_and_resampled

AUTHORS = 12


@pytest.fixture
def rate() -> tuple[float, float, float]:
    """A rate of 12 authors with 8 decisions each, and its 95 % limits as the report has them."""
    generator = np.random.default_rng(1)
    hits = generator.binomial(1, 0.3, AUTHORS * 8).astype(float)
    drawn = mean_draws(hits, np.repeat(np.arange(AUTHORS), 8), observed_and_resampled(AUTHORS, 1, 500))
    return float(drawn[0]), *interval(drawn, AUTHORS, RATE)


def test_what_a_rate_shows_lies_outside_its_interval(rate) -> None:
    value, low, high = rate
    # By hand: the score test has .05 at the limits. Upwards the binomial test, which is skewed, asks for a bit more.
    assert 0.05 < p_of_rate(value, low, high, low, AUTHORS) < 0.06
    assert p_of_rate(value, low, high, high, AUTHORS) == pytest.approx(0.05, abs=1e-9)
    assert p_of_rate(value, low, high, value, AUTHORS) == pytest.approx(1.0, abs=0.01)
    assert p_of_rate(value, low, high, low - 0.02, AUTHORS) < 0.05 < p_of_rate(value, low, high, low + 0.02, AUTHORS)
    # Wilson's limits are of one number of decisions, whichever is asked.
    assert decisions(value, low, AUTHORS) == pytest.approx(decisions(value, high, AUTHORS))
    # No text right: the lower limit is 0, and p is that of chance above it.
    assert p_of_rate(0.0, 0.0, 0.2, 0.2, AUTHORS) == pytest.approx(0.05, abs=1e-9)
    assert math.isnan(p_of_rate(0.1, math.nan, math.nan, 0.2, AUTHORS))


def test_a_limit_that_seeds_move_beyond_a_bound_says_no_number_of_decisions() -> None:
    # By hand: t(.975, 7) = 2.3646; .18 with the upper limit .3 is of 2.3646^2 x .3 x .7 / .12^2 = 81.5 decisions.
    assert decisions(0.18, 0.3, 8) == pytest.approx(81.54, abs=0.01)
    assert math.isnan(decisions(0.18, 0.0, 8))
    # Chance lies above a lower limit that was cut: nothing is shown, however near the other limit is. By half of what
    # the cut left, .15, p was .028.
    assert p_of_rate(0.18, 0.0, 0.3, 0.05, 8) == 0.05
    assert p_of_rate(0.18, 0.0, 1.0, 0.05, 8) == 1.0
    # Where the limits are of two numbers of decisions, that on the side of chance says whether chance is in them.
    assert p_of_rate(0.5, 0.2, 0.72, 0.21, 8) > 0.05 > p_of_rate(0.5, 0.2, 0.72, 0.15, 8)
    assert p_of_rate(0.5, 0.28, 0.8, 0.79, 8) > 0.05 > p_of_rate(0.5, 0.28, 0.8, 0.85, 8)


def test_a_rate_of_decisions_that_are_known_is_tested_by_binomial_mid_p() -> None:
    # 100 decisions by 10,000 authors, so that t is normal: 9 hits at a chance of 1 in 25.
    wilson = binomtest(9, 100).proportion_ci(method="wilson")
    upper = binom.sf(9, 100, 0.04) + binom.pmf(9, 100, 0.04) / 2
    assert p_of_rate(0.09, *wilson, 0.04, 10_000) == pytest.approx(2 * upper, rel=2e-3)
    score = 2 * norm.sf(0.05 / math.sqrt(0.04 * 0.96 / 100))
    assert score < 0.6 * upper * 2


def test_the_rate_that_would_have_been_found_is_found_in_four_of_five_runs() -> None:
    generator, authors, chance = np.random.default_rng(3), 24, 1 / 24
    counts = observed_and_resampled(authors, 1, 400)

    def row(mean) -> tuple[float, float, float]:
        drawn = counts @ generator.binomial(8, generator.beta(4 * mean, 4 * (1 - mean), authors)) / 8 / authors
        return float(drawn[0]), *interval(drawn, authors, RATE)

    rows = [row(chance) for _ in range(100)]
    trials = [decisions(value, high, authors) for value, _, high in rows]
    rate = float(np.median([rate_found(number, chance, authors, 15) for number in trials]))
    assert 0.15 < rate < 0.2
    found = np.mean([p_of_rate(*row(rate), chance, authors) < 0.05 / 15 for _ in range(300)])
    assert 0.75 < found < 0.9
    # Six authors with three decisions find nothing in fifteen tests, however many are right.
    assert rate_found(3.0, 1 / 6, 6, 15) == 1.0


def test_a_share_is_ruled_out_where_upper_limit_and_ceiling_are_apart() -> None:
    # With thousands of authors a is 1.96 errors. By hand: .2 and .6 of 400 decisions each have the errors .02 and
    # .0245; half of the way from 0 to .6 is .3, so (.3 - .2) / hypot(.02, .0123) = 4.3 errors, less Wilson's skew.
    rate, ceiling = (binomtest(hits, 400).proportion_ci(method="wilson") for hits in (80, 240))
    found = p_of_share((0.2, *rate), (0.6, *ceiling), 0.0, 0.5, 10_000)
    assert 2 * norm.sf(4.3) < found < 2 * norm.sf(3.6)
    assert math.isnan(p_of_share((0.31, 0.28, 0.34), (0.6, *ceiling), 0.0, 0.5, 10_000))


def test_p_of_limits_is_05_where_the_interval_ends() -> None:
    assert p_of_limits(0.3, 0.1, 0.7, 0.1, AUTHORS) == pytest.approx(0.05)
    assert p_of_limits(0.3, 0.1, 0.7, 0.7, AUTHORS) == pytest.approx(0.05)
    assert math.isnan(p_of_limits(0.3, math.nan, math.nan, 0.0, AUTHORS))


def test_a_family_is_corrected_as_a_whole() -> None:
    p, beyond = pd.Series([0.001, 0.03, 0.9, 0.9]), pd.Series([math.nan, math.nan, 0.001, 0.04])
    signs = pd.Series([1.0, 1.0, 1.0, -1.0])
    found = settle(p, beyond, signs, AUTHORS)
    # 4 x .001 is shown, 3 x .03 is not; of the two bounds 2 x .001 is passed, and .04 once the first is.
    assert found["state"].tolist() == ["above", "open", "ruled out", "ruled out"]
    assert settle(p, beyond, -signs, AUTHORS)["state"][0] == "below"
    # Five authors show nothing in a single test: 2 / 2^5 = .06.
    assert settle(p, beyond, signs, 5)["state"].tolist() == ["open"] * 4


def test_rates_come_with_what_would_have_been_found(rate) -> None:
    value, low, high = rate
    row = {"value": value, "low": low, "high": high}
    # A third is right, and half of the way to .95 +- .03 is .57 or more.
    found = rates_above(pd.DataFrame([row]), low - 0.06, AUTHORS, (0.95, 0.88, 0.98), 0.5)
    assert found["state"].tolist() == ["above"]
    assert found["within"].tolist() == [True]
    # Half of the way to .5 is .42, which the rate may be.
    found = rates_above(pd.DataFrame([row]), value, AUTHORS, (0.5, 0.4, 0.6), 0.5)
    assert found["state"].tolist() == ["open"]
    assert found["within"].tolist() == [False]
    assert found["found"].item() > high - 0.1


def test_a_difference_is_ruled_out_on_both_sides() -> None:
    table = pd.DataFrame({"delta": [0.0, 0.08], "low": [-0.05, 0.03], "high": [0.05, 0.13], "p": [0.9, 0.2]})
    assert differences_apart(table, 0.1, AUTHORS)["state"].tolist() == ["ruled out", "open"]
    assert differences_apart(table, math.nan, AUTHORS)["state"].tolist() == ["open", "open"]
