"""The share between nothing and a ceiling, and the limits of a ratio."""

import numpy as np
import pytest
from scipy.stats import t as student_t

from favor.statistics.bootstrap import RATE, interval
from favor.statistics.kept_share import Limits, kept_share, ratio_limits


def test_fieller_by_hand() -> None:
    # 4 / 2 with half widths 1 and 1 of uncorrelated draws: (4 - 2 r)^2 = 1 + r^2, so 3 r^2 - 16 r + 15 = 0.
    top, bottom = np.array([4.0, 3.0, 5.0, 3.0, 5.0]), np.array([2.0, 1.0, 1.0, 3.0, 3.0])
    low, high = ratio_limits(top, bottom, Limits(3.0, 5.0), Limits(1.0, 3.0))
    assert (low, high) == pytest.approx(((8 - 19**0.5) / 3, (8 + 19**0.5) / 3))
    # Correlated draws, c = 1, of a ratio near 1 vary together: (4 - 2 r)^2 = (1 - r)^2, r = 3 or 5/3.
    low, high = ratio_limits(top, top - 2, Limits(3.0, 5.0), Limits(1.0, 3.0))
    assert (low, high) == pytest.approx((5 / 3, 3))
    # Limits that are not symmetric: the lower end has 4 - 3 = 1 and 4 - 2 = 2: (4 - 2 r)^2 = 1 + 4 r^2 has one root,
    # and no finite end; with 1.5: 4 - 2.25 = 1.75 times r^2 - 16 r + 15 = 0.
    low, _ = ratio_limits(top, bottom, Limits(3.0, 5.0), Limits(1.0, 3.5))
    assert low == pytest.approx((8 - (64 - 1.75 * 15) ** 0.5) / 1.75)
    assert np.isnan(ratio_limits(top, bottom, Limits(3.0, 5.0), Limits(1.0, 4.0))).all()
    # Below 0 the smaller ratio is that over a smaller range.
    low, _ = ratio_limits(-top, bottom, Limits(-5.0, -3.0), Limits(1.0, 3.5))
    assert low == pytest.approx((-8 - 19**0.5) / 3)


SCORE, CEILING = np.array([0.3, 0.2, 0.4, 0.2, 0.4]), np.array([0.5, 0.4, 0.4, 0.6, 0.6])


def test_a_share_by_hand() -> None:
    found = kept_share(SCORE, 0.1, CEILING, 1000)
    assert found.share == pytest.approx(0.2 / 0.4)
    half = student_t.ppf(0.975, 999) * 0.1 * (1000 / 999) ** 0.5
    assert (found.score_low, found.score_high) == pytest.approx((0.3 - half, 0.3 + half))
    # (0.2 - 0.4 r)^2 = half^2 (1 + r^2), as score and ceiling do not vary together
    square = 0.16 - half**2
    root = (0.08**2 - square * (0.04 - half**2)) ** 0.5
    assert (found.low, found.high) == pytest.approx(((0.08 - root) / square, (0.08 + root) / square))
    assert (found.score, found.floor, found.ceiling, found.reason) == (0.3, 0.1, 0.5, "")
    bounded = kept_share(SCORE, 0.1, CEILING, 1000, RATE)
    assert (bounded.score_low, bounded.score_high) == interval(SCORE, 1000, RATE)
    own = kept_share(CEILING, 0.1, CEILING, 1000, RATE)
    assert (own.share, own.low, own.high) == (1.0, 1.0, 1.0)


def test_a_ceiling_of_more_clusters_is_as_sure_as_it_was() -> None:
    """A method that has outputs of three authors does not blur the range, which twelve authors span."""
    few = kept_share(SCORE, 0.1, CEILING, 3)
    assert "not apart" in few.reason
    found = kept_share(SCORE, 0.1, CEILING, 3, of_ceiling=12)
    assert found.share == pytest.approx(0.5)
    assert (found.score_low, found.score_high) == (few.score_low, few.score_high)


def test_what_is_all_right_as_own_text_is_may_still_be_less() -> None:
    """Twelve authors, all right in both: Wilson's lower end is 1 / (1 + t^2 / 12) = .712, and 1 - .1 = .9.

    (1 - .1 - r .9)^2 = (.288)^2 for the lower end, whose rates do not vary, and .9 = r (.9 - .288) for the upper.
    """
    right = np.ones(400)
    found = kept_share(right, 0.1, right.copy(), 12, RATE)
    low = 12 / (12 + student_t.ppf(0.975, 11) ** 2)
    assert (found.share, found.low, found.high) == pytest.approx((1.0, (low - 0.1) / 0.9, 0.9 / (low - 0.1)))


def test_a_floor_may_vary_too() -> None:
    still, moving = (kept_share(SCORE, floor, CEILING, 1000) for floor in (np.full(5, 0.1), CEILING - 0.4))
    assert (still.share, moving.share) == pytest.approx((0.5, 0.5))
    assert still.low == pytest.approx(kept_share(SCORE, 0.1, CEILING, 1000).low)
    # ceiling - floor is .4 in every draw: (0.2 - 0.4 r)^2 = the variance of score - floor
    error = student_t.ppf(0.975, 999) * float(np.std((SCORE - CEILING)[1:])) * (1000 / 999) ** 0.5
    assert (moving.low, moving.high) == pytest.approx((0.5 - error / 0.4, 0.5 + error / 0.4))


def test_no_share_of_a_range_that_may_be_empty() -> None:
    ceiling = np.array([0.1, -0.1, 0.1, 0.2, 0.1])
    found = kept_share(np.full(5, 0.4), np.zeros(5), ceiling, 1000, None, "text and nothing")
    assert np.isnan([found.share, found.low, found.high]).all()
    assert found.reason.startswith("text and nothing are not apart: +0.100, 95 % interval [-0.1")
    missing = np.full(3, np.nan)
    assert kept_share(missing, np.zeros(3), np.ones(3), 9).reason == "no value of the score"
    assert kept_share(np.zeros(3), missing, missing, 9).reason == "no value of the floor, the ceiling"
    seeds = np.stack([np.full(3, 0.5), missing])
    assert kept_share(seeds, 0.1, np.ones((2, 3)), 9).reason == "no value of the score in some seed"
    assert np.isnan(kept_share(np.zeros(3), np.zeros(3), missing, 9).share)
