"""Habits against numbers counted by hand: rates, limits, and rare things that are no habit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student_t

from favor.voice.habits import HABITS, HabitRate, _p, compare_habits

PLAIN = "We walked home. It was late, and it rained."  # 2 sentences, 9 words, 1 comma
BUSY = "We walked home, slowly, in the rain. It was late, and cold, and dark!"  # 2 sentences, 4 commas


def of(name, texts, own, others=()) -> HabitRate:
    rates = {rate.name: rate for rate in compare_habits(texts, own, list(others))}
    return rates[name]


def test_commas_per_sentence() -> None:
    found = of("commas", [BUSY] * 10, [PLAIN] * 10, [[PLAIN], [BUSY]])
    assert found.texts == pytest.approx(2.0)
    assert found.own == found.own_low == found.own_high == pytest.approx(0.5)
    assert (found.others_low, found.others_high) == pytest.approx((0.5 + 0.1 * 1.5, 2 - 0.1 * 1.5))
    assert found.differs


def test_limits_are_those_of_a_ratio_over_texts() -> None:
    # Events 1 and 4 in 2 sentences each: rate 1.25, residuals -1.5 and 1.5, error sqrt(2 * 4.5) / 4, t(1) = 12.706.
    found = of("commas", [PLAIN, PLAIN], [PLAIN, BUSY])
    assert found.own == pytest.approx(1.25)
    assert found.own_high == pytest.approx(1.25 + 0.75 * 12.7062, abs=1e-3)
    assert found.own_low == 0


def test_the_absence_of_a_rare_thing_is_not_a_habit() -> None:
    """No semicolon in 1,800 words of the author's, three in 450 of the texts'."""
    own = [PLAIN] * 200
    texts = [PLAIN] * 47 + ["It rained; we walked home; it was late; and so on."]
    found = of("semicolons", texts, own)
    assert not found.differs
    assert math.isnan(found.p)  # four would be expected: too few to say anything
    assert found.own_high > 0  # and the author's limits do not end at 0
    assert of("semicolons", ["It rained; we walked home."] * 30, [PLAIN] * 100).differs


def test_one_text_differs_where_it_is_outside_of_what_the_authors_own_differ_by() -> None:
    """Half of the author's texts have one comma in two sentences, half have four; a text of either is the author's."""
    own = [PLAIN, BUSY] * 20
    for text in (PLAIN, BUSY):
        assert of("commas", [text * 10], own).p == 1.0
    assert of("commas", [BUSY * 5], [PLAIN] * 40 + [BUSY]).differs
    # By hand: rate 1.25, squares 2.25 of 2 sentences each, 40/39 of them: of a text of 4 sentences, which are two of
    # those, 1.125 / 4; of texts that differ however long they are, .5625, which is more; of the author's mean 1/40.
    habit = next(each for each in HABITS if each.name == "words in capitals")
    texts, theirs = np.array([[9.0], [4.0]]), np.array([[1.0, 4.0] * 20, [2.0] * 40])
    t = (9 / 4 - 1.25) / math.sqrt(40 / 39 * (0.5625 + 0.5625 / 40))
    assert _p(replace(habit, counted=False), texts, theirs) == pytest.approx(2 * student_t.sf(t, 39))


def test_equal_texts_differ_in_nothing() -> None:
    generator = np.random.default_rng(3)
    draws = [[(PLAIN, BUSY)[n] for n in generator.integers(2, size=20)] for _ in range(2)]
    assert not any(rate.differs for rate in compare_habits(*draws, []))


@pytest.mark.parametrize(
    ("name", "text", "events"),
    [
        ("dashes", "a -- b - c — d well-known", 3),
        ("ellipses", "well... so… yes..", 3),
        ("contractions", "don't it's we’ll rock 'n' roll James'", 3),
        ("lower-case starts", "so it goes. and on. Then\nhere", 3),
        ("lower-case i", "i think I and i'm", 2),
        ("words in capitals", "A NASA man, OK I", 2),
        ("emoticons", "fine :) sad :-( love <3 at 10:30", 3),
        ("first person", "I told my mother, and mine is me", 4),
    ],
)
def test_what_is_counted(name, text, events) -> None:
    (habit,) = [each for each in HABITS if each.name == name]
    assert habit.events(text) == events
