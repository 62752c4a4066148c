"""Drift towards the group's mean: texts that go all, half or none of the way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.scores.copied_voices import by_method, copied_voices, repeated

from favor.scores import drift
from favor.scores.readable_habits import HABITS, habits_of, readable_habits
from favor.scores.settings import Drift


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return drift.score(copied_voices(one_voice=True), Drift(draws=200))


def test_human_text_keeps_all_and_one_text_for_all_nothing(scores) -> None:
    for metric, slack in (("spread_left", 0), ("habit_variance_left", 0), ("habit_slope", 0.25)):
        found = by_method(scores, metric)
        assert found["gold"] == pytest.approx(1.0, abs=slack)
        assert found["same"] == pytest.approx(0.0, abs=1e-9)
    for metric in ("spread_left", "habit_slope"):
        low, value, high = (by_method(scores, metric, end)["0.5"] for end in ("low", "", "high"))
        assert low < value < high
    for end in ("low", "high"):  # Habits that few authors have do not inflate the interval.
        assert max(map(abs, by_method(scores, "habit_variance_left", end).values())) < 100


def test_habits_rise_with_the_chance_of_the_own_voice_and_spread_does_not(scores) -> None:
    slopes = by_method(scores, "habit_slope")
    assert slopes["0.0"] < 0.3 < slopes["0.5"] < 0.7 < slopes["1.0"]
    # everybody in the voice of one other author: as far apart as the authors are
    for method in ("0.0", "1.0"):
        low, high = (by_method(scores, "spread_left", end)[method] for end in ("low", "high"))
        assert low < 1.0 < high
    # half of one voice, half of another: nearer to the mean
    assert by_method(scores, "spread_left", "high")["0.5"] < 1.0


def test_authors_without_an_output_are_not_counted(scores) -> None:
    """Seven authors whose outputs passed have no interval, eight have, whoever else wrote human continuations."""
    inputs = copied_voices(one_voice=True)
    for kept, known in ((7, False), (8, True)):
        outputs = inputs.generations
        passed = outputs["client"].isin(inputs.clients[:kept]) | (outputs["method"] != "0.5")
        made = outputs.assign(passed=outputs["passed"] & passed)
        found = drift.score(replace(inputs, generations=made), Drift(draws=200))
        for metric in ("spread_left", "habit_variance_left", "habit_slope"):
            assert np.isfinite(by_method(found, metric)["0.5"])
            assert np.isfinite(by_method(found, metric, "low")["0.5"]) == known
            assert by_method(found, metric, "low")["1.0"] == by_method(scores, metric, "low")["1.0"]


@pytest.mark.parametrize("writes", [True, False])
def test_an_author_without_a_reference_is_left_out(writes) -> None:
    """Outputs that are the authors' own continuations keep all, also where an author has no long training text."""
    inputs = copied_voices()
    lost = inputs.clients[0]
    texts = inputs.client_texts
    assert texts is not None
    short = texts.assign(training_text=texts["training_text"].where(texts["client"] != lost, "too short"))
    gold = inputs.prompts.set_index(["client", "prompt_id"])["gold_text"]
    made = inputs.generations.assign(
        text=[gold[key] for key in zip(inputs.generations["client"], inputs.generations["prompt_id"], strict=True)],
        passed=inputs.generations["passed"] & (writes | (inputs.generations["client"] != lost)),
    )
    found = drift.score(replace(inputs, client_texts=short, generations=made), Drift(draws=200))
    assert by_method(found, "habit_variance_left")["0.5"] == pytest.approx(1.0)
    assert by_method(found, "habit_variance_left", "low")["0.5"] == pytest.approx(1.0)


def test_people_who_do_not_differ_measurably_leave_nothing_to_keep() -> None:
    human = np.array([2.0, *[1.9, 2.1] * 50])
    # 3 / 2 by Fieller with draws that do not vary together: 3 is known, 2 varies by .1 t: 3 / (2 +- .196)
    found = drift._left(np.full(101, 3.0), human, 10**6, 10**6)
    assert found == pytest.approx((1.5, 3 / 2.196, 3 / 1.804), abs=1e-3)
    assert np.isnan(drift._left(human, np.array([2.0, *[-0.1, 4.1] * 50]), 10**6, 10**6)).all()
    assert np.isnan(drift._left(human, np.full(101, 1e-16) * human, 1, 1)).all()


@pytest.mark.parametrize("again", ["seed", "sample"])
def test_a_post_counts_once_however_many_seeds_and_samples_it_has(scores, again) -> None:
    whole = drift.score(repeated(copied_voices(one_voice=True), again), Drift(draws=200))
    for metric in ("spread_left", "habit_variance_left", "habit_slope"):
        for end in ("", "low", "high"):
            expected = by_method(scores, metric, end)
            expected.pop("shuffled")  # every seed deals the texts out again
            found = by_method(whole, metric, end)
            assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_habits_by_hand() -> None:
    found = dict(zip(HABITS, readable_habits("i don't know... WOW! so it was 7 :)"), strict=True))
    words = 7  # i don't know WOW so it was
    assert found["contractions"] == pytest.approx(1 / words)
    assert found["discourse markers"] == pytest.approx(1 / words)  # so
    assert found["capitals"] == pytest.approx(1 / words)
    assert found["emoticons"] == pytest.approx(1 / 35)
    assert found["digits"] == pytest.approx(1 / 35)
    assert found["exclamations"] == found["ellipses"] == pytest.approx(1 / 35)
    # One marker of three words, whatever the apostrophe.
    for text in ("so don't go", "so don’t go"):
        assert readable_habits(text)[HABITS.index("discourse markers")] == pytest.approx(1 / 3)
    assert habits_of([]).shape == (0, len(HABITS))
    assert not np.isnan(readable_habits("")).any()
