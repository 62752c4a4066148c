"""Calibrated ratios: a known answer for Gaussian scores, and the cost of ratios by hand."""

import numpy as np
import pytest

from favor.foundation.seeds import numpy_generator
from favor.statistics.calibration import Calibration, ratio_cost


def test_ratios_of_gaussian_scores() -> None:
    # N(1, 1) against N(-1, 1): the natural log ratio of a score s is 2 s, whatever the share of positives.
    generator = numpy_generator(1, "calibration")
    scores = np.concatenate([generator.normal(1, 1, 4000), generator.normal(-1, 1, 36000)])
    found = Calibration(scores, np.arange(40000) < 4000).ratios(np.array([[-1.0, 0.0], [1.0, 2.0]]))
    assert found == pytest.approx(np.array([[-2.0, 0.0], [2.0, 4.0]]) / np.log(10), abs=0.06)


def test_ratios_are_those_of_the_minimum() -> None:
    # With equal priors, the intercept's derivative is 0 where both kinds miss as much on average.
    generator = numpy_generator(2, "calibration")
    scores, positive = np.concatenate([generator.normal(1, 1, 40), generator.normal(-1, 2, 360)]), np.arange(400) < 40
    own = 1 / (1 + 10.0 ** -Calibration(scores, positive).ratios(scores))
    assert (1 - own[positive]).mean() == pytest.approx(own[~positive].mean(), abs=1e-8)


def test_cost_by_hand() -> None:
    positive = np.array([True, False, False])
    assert ratio_cost(np.zeros(3), positive) == pytest.approx(1.0)
    # LR 10 for the own pair; 0.1 and 10 for the others.
    expected = (np.log2(1.1) + (np.log2(1.1) + np.log2(11)) / 2) / 2
    assert ratio_cost(np.array([1.0, -1.0, 1.0]), positive) == pytest.approx(expected)
    assert np.isnan(ratio_cost(np.zeros(2), np.array([True, True])))
