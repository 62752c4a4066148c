"""Power beforehand: against tables of the t-test, by hand, and against the tables' own tests of planted differences."""

import math
from functools import cache

import numpy as np
import pytest

from favor.statistics.paired import holm
from favor.statistics.power import (
    LEVEL,
    Component,
    authors_for,
    detectable,
    least_authors,
    number_for,
    power,
    uncertainty,
    variance_of_author,
)
from favor.statistics.sign_flips import sign_flip_p

pytestmark = pytest.mark.slow(31)

RUNS = 500
PARTS = (
    Component("authors", 0.5),
    Component("seeds", 0.3, ("seeds",)),
    Component("prompts", 1.2, ("seeds", "prompts")),
    Component("samples", 2.0, ("seeds", "prompts", "samples")),
)


def test_one_test_is_the_paired_t_test() -> None:
    # Cohen 1988, paired t-test, two-sided .05, power .80: d = .5 needs 34 pairs, d = .8 needs 15, d = .2 needs 199.
    assert [authors_for(effect, 1) for effect in (0.2, 0.5, 0.8)] == [199, 34, 15]
    assert power(0.0, 20, 1) == pytest.approx(LEVEL, abs=1e-4)
    assert power(0.0, 20, 10) == pytest.approx(LEVEL / 10, abs=1e-4)


def test_signs_of_few_authors_show_no_difference_however_large() -> None:
    # 2 / 2^6 = .031 passes one test at .05, and not two (.0625); 13 tests need 2 / 2^N < .00385: N = 10.
    assert [least_authors(tests) for tests in (1, 2, 13)] == [6, 7, 10]
    assert math.isfinite(detectable(6, 1))
    assert detectable(6, 2) == detectable(9, 13) == math.inf
    assert math.isfinite(detectable(10, 13))
    assert power(100.0, 9, 13) == 0.0
    assert authors_for(100.0, 13) == 10
    assert authors_for(1e-9, 1) is None


def test_the_variance_of_a_design_by_hand() -> None:
    design = {"seeds": 2, "prompts": 4, "samples": 1}
    # .5 + .3 / 2 + 1.2 / 8 + 2 / 8
    assert variance_of_author(PARTS, design) == pytest.approx(1.05)
    assert variance_of_author((Component("authors", -1.0), Component("seeds", 0.2, ("seeds",))), design) == 0.1
    # 1.05 -> .75: .65 stays, so (1.2 + 2) / (2 P) = .1 and P = 16. Below .65 no number of prompts comes.
    assert number_for(PARTS, design, "prompts", 0.75) == 16
    assert number_for(PARTS, design, "prompts", 0.65) is None
    # Samples leave .5 + .15 + .15.
    assert number_for(PARTS, design, "samples", 0.825) == 10


def test_half_the_difference_takes_about_four_times_the_authors() -> None:
    assert authors_for(detectable(50, 13) / 2, 13) == pytest.approx(4 * 50, rel=0.1)
    assert detectable(authors_for(detectable(12, 13) / 2, 13) or 0, 13) <= detectable(12, 13) / 2


def p_values(differences) -> np.ndarray:
    """The tables' p of every run, from the authors' differences [runs, authors]."""
    return np.array([sign_flip_p(own, seed=1) for own in differences])


@cache
def null_p_values(authors, tests) -> list[np.ndarray]:
    generator = np.random.default_rng((7, authors))
    return [p_values(generator.normal(size=(RUNS, authors))) for _ in range(tests)]


def found(tests, differences) -> float:
    """How often the first of ``tests`` comparisons, whose authors' differences [runs, authors] are given, is marked.

    In the other comparisons there is no difference.
    """
    p = np.array([p_values(differences), *null_p_values(differences.shape[1], tests - 1)])
    return float(np.mean([holm(p[:, run])[0] < LEVEL for run in range(len(differences))]))


def simulated(generator, authors, design, difference) -> np.ndarray:
    """Authors' mean differences [runs, authors], drawn output by output with the variances of ``PARTS``."""
    seeds, prompts, samples = design["seeds"], design["prompts"], design["samples"]
    shape = (RUNS, authors, seeds, prompts, samples)
    values = np.full(shape, difference)
    for depth, part in enumerate(PARTS):
        drawn = generator.normal(0, part.variance**0.5, shape[: 2 + depth])
        values += drawn.reshape(*drawn.shape, *([1] * (len(shape) - drawn.ndim)))
    return values.mean(axis=(2, 3, 4))


@pytest.mark.parametrize(("authors", "tests"), [(6, 1), (7, 2), (10, 13), (24, 1), (50, 13)])
def test_planted_differences_of_the_computed_size_are_found_in_four_of_five_runs(authors, tests) -> None:
    design = {"seeds": 2, "prompts": 4, "samples": 2}
    difference = detectable(authors, tests) * variance_of_author(PARTS, design) ** 0.5
    generator = np.random.default_rng((authors, tests))
    assert 0.75 <= found(tests, simulated(generator, authors, design, difference)) <= 0.85
    # Half of it is missed by far, and with no difference the level holds.
    assert found(tests, simulated(generator, authors, design, difference / 2)) < 0.5
    assert found(tests, simulated(generator, authors, design, 0.0)) <= 0.06


@pytest.mark.parametrize(("authors", "prompts"), [(12, 4), (50, 8)])
def test_planted_differences_in_accuracy_are_found_too(authors, prompts) -> None:
    """Hits are 0 or 1, of few prompts per author, whose chance of a hit differs from author to author."""
    generator = np.random.default_rng(authors)
    base = 0.3
    # One method hits with probability b of the author, the other with b + d; both draw on their own.
    spread = 0.15
    many = generator.beta(2, 2, 200_000) * 2 * spread + base - spread
    within, difference = 2 * (many * (1 - many)).mean() / prompts, 0.0
    for _ in range(8):  # the other side's variance moves with the difference
        moved = np.clip(many + difference, 0, 1)
        within = ((many * (1 - many)).mean() + (moved * (1 - moved)).mean()) / prompts + (moved - many).var()
        difference = detectable(authors, 13, 1 / prompts / within**0.5) * within**0.5
    chance = generator.beta(2, 2, (RUNS, authors)) * 2 * spread + base - spread
    left = generator.binomial(prompts, np.clip(chance + difference, 0, 1)) / prompts
    right = generator.binomial(prompts, chance) / prompts
    assert 0.75 <= found(13, left - right) <= 0.85


def test_an_accuracy_of_a_million_authors_needs_no_more_draws_than_one_of_a_thousand() -> None:
    assert detectable(1_000_000, 10, 1 / 24) == pytest.approx(detectable(1_000_000, 10), rel=0.05)


def test_a_deviation_from_few_authors_is_uncertain() -> None:
    # Chi-square of 11 degrees of freedom: 2.5 % at 3.816, 97.5 % at 21.920.
    assert uncertainty(12) == pytest.approx(((11 / 21.920) ** 0.5, (11 / 3.816) ** 0.5), abs=1e-3)
