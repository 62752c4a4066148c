"""A claim is shown, ruled out or open; its p agrees with the interval that is printed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from favor.analysis.claims import decisions, differences_apart, p_of_limits, p_of_rate, rates_above, settle
from favor.statistics.bootstrap import RATE, interval, mean_draws, observed_and_resampled

AUTHORS = 12


@pytest.fixture
def rate() -> tuple[float, float, float]:
    """A rate of 12 authors with 8 decisions each, and its 95 % limits as the report has them."""
    generator = np.random.default_rng(1)
    hits = generator.binomial(1, 0.3, AUTHORS * 8).astype(float)
    drawn = mean_draws(hits, np.repeat(np.arange(AUTHORS), 8), observed_and_resampled(AUTHORS, 1, 500))
    return float(drawn[0]), *interval(drawn, AUTHORS, RATE)


def test_p_of_a_rate_is_05_where_its_interval_ends(rate) -> None:
    value, low, high = rate
    assert p_of_rate(value, low, high, low, AUTHORS) == pytest.approx(0.05, abs=1e-9)
    assert p_of_rate(value, low, high, high, AUTHORS) == pytest.approx(0.05, abs=1e-9)
    assert p_of_rate(value, low, high, value, AUTHORS) == pytest.approx(1.0)
    assert p_of_rate(value, low, high, low - 0.02, AUTHORS) < 0.05 < p_of_rate(value, low, high, low + 0.02, AUTHORS)
    assert decisions(*rate, AUTHORS) > 0
    # No text right: the lower limit is 0, and p is that of chance above it.
    assert p_of_rate(0.0, 0.0, 0.2, 0.2, AUTHORS) == pytest.approx(0.05, abs=1e-9)
    assert math.isnan(p_of_rate(0.1, math.nan, math.nan, 0.2, AUTHORS))


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
    row = {"value": value, "low": low, "high": high, "share": 0.2, "share_high": 0.4, "margin": 0.5}
    found = rates_above(pd.DataFrame([row]), low - 0.05, AUTHORS)
    assert found["state"].tolist() == ["above"]
    assert found["within"].tolist() == [True]
    found = rates_above(pd.DataFrame([row | {"share_high": 0.6}]), value, AUTHORS)
    assert found["state"].tolist() == ["open"]
    assert found["found"].item() > high - 0.1


def test_a_difference_is_ruled_out_on_both_sides() -> None:
    table = pd.DataFrame({"delta": [0.0, 0.08], "low": [-0.05, 0.03], "high": [0.05, 0.13], "p": [0.9, 0.2]})
    assert differences_apart(table, 0.1, AUTHORS)["state"].tolist() == ["ruled out", "open"]
    assert differences_apart(table, math.nan, AUTHORS)["state"].tolist() == ["open", "open"]
