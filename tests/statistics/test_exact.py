"""Exact limits: published and hand-computed values, and coverage where the distribution is known."""

from __future__ import annotations

import numpy as np
import pytest

from favor.statistics.attacks import exposure
from favor.statistics.exact import binomial_limits, exponential_mean_limits


def test_limits_of_a_rate_by_hand_and_as_published() -> None:
    # Nobody of n: the upper limit p has (1 - p)^n = .025.
    assert binomial_limits(0, 6) == (0.0, pytest.approx(1 - 0.025 ** (1 / 6)))
    assert binomial_limits(6, 6) == (pytest.approx(0.025 ** (1 / 6)), 1.0)
    # 3 of 10: R's binom.test(3, 10).
    assert binomial_limits(3, 10) == (pytest.approx(0.06673951), pytest.approx(0.6524529))


@pytest.mark.parametrize("authors", [6, 12, 24])
def test_limits_of_a_rate_cover_where_authors_repeat_themselves(authors) -> None:
    """Decisions of an author that are always alike: limits that count authors hold, those of decisions do not."""
    generator = np.random.default_rng(1)
    found = generator.binomial(authors, 0.25, size=2000)
    limits = {hits: binomial_limits(hits, authors) for hits in set(found.tolist())}
    doubled = {hits: binomial_limits(4 * hits, 4 * authors) for hits in limits}
    covers = np.mean([limits[hits][0] <= 0.25 <= limits[hits][1] for hits in found.tolist()])
    fails = np.mean([doubled[hits][0] <= 0.25 <= doubled[hits][1] for hits in found.tolist()])
    assert covers >= 0.945
    assert fails < 0.9


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
