"""The share between a floor and a ceiling."""

from __future__ import annotations

import numpy as np
import pytest

from favor.statistics.kept_share import kept_share


def test_by_hand() -> None:
    score, floor, ceiling = np.array([0.3, 0.2, 0.4]), np.array([0.1, 0.1, 0.1]), np.array([0.5, 0.5, 0.5])
    found = kept_share(score, floor, ceiling, 10**6)
    assert found.share == pytest.approx(0.5)
    # draws .25 and .75: the percentiles 2.5 and 97.5 lie between them
    assert (found.low, found.high) == (pytest.approx(0.2625), pytest.approx(0.7375))
    assert (found.score_low, found.score_high) == (pytest.approx(0.205), pytest.approx(0.395))
    assert (found.score, found.floor, found.ceiling, found.reason) == (0.3, 0.1, 0.5, "")


def test_draws_without_a_range_are_left_out_of_the_interval() -> None:
    floor, ceiling = np.zeros(101), np.ones(101)
    ceiling[-1] = -1.0  # one draw of a hundred
    found = kept_share(np.full(101, 0.4), floor, ceiling, 10**6)
    assert (found.share, found.low, found.high) == (0.4, 0.4, 0.4)


def test_no_share_of_a_range_that_may_be_empty() -> None:
    found = kept_share(np.full(5, 0.4), np.zeros(5), np.array([0.1, -0.1, 0.1, 0.2, 0.1]), 10**6)
    assert np.isnan([found.share, found.low, found.high]).all()
    assert found.reason.startswith("ceiling and floor are not apart: +0.100, 95 % interval [-0.0")
    missing = np.full(3, np.nan)
    assert kept_share(missing, np.zeros(3), np.ones(3), 9).reason == "no value of the score"
    assert kept_share(np.zeros(3), missing, missing, 9).reason == "no value of the floor, the ceiling"
    assert np.isnan(kept_share(np.zeros(3), np.zeros(3), missing, 9).share)
