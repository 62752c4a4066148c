"""Copied word 5-grams."""

from dataclasses import replace

import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.scores import copying
from favor.scores.copying import word_list
from favor.scores.inputs import ScoreInputs
from favor.scores.settings import Draws


def test_words_are_compared_without_case_and_marks() -> None:
    assert word_list("the QUICK, brown fox...") == ["the", "quick", "brown", "fox"]
    assert word_list("don’t a") == ["don't", "a"]


def with_texts(inputs, outputs, **known) -> ScoreInputs:
    """The inputs with other outputs, and what every client was trained on."""
    texts = pd.DataFrame(known.items(), columns=["client", "training_text"])
    return replace(inputs, generations=inputs.generations.assign(text=outputs), client_texts=texts)


def test_family(three_authors, score_value) -> None:
    outputs = ["One two three four five", "nothing here at all to see", "alpha beta", "x", "y", "failed"]
    inputs = with_texts(three_authors, outputs, a="one two three four five six", b="alpha beta", c="")
    scores = copying.score(inputs, Draws(draws=200))
    # five survivors; one copies, with its only 5-gram
    assert score_value(scores, "copy5") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5_rate") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5", method="gold") == 0.0
    # The human texts have 22 words and so does no output; the second note is an interval's.
    notes = {"no output has 22 words", "needs outputs of two authors, and some under every seed", ""}
    assert set(scores.loc[scores["metric"] == "longest_copy", "note"]) == notes
    assert score_value(scores, "longest_copy", method="gold") == 0.0
    with pytest.raises(UserError, match="1 of the clients have no row"):
        with_texts(three_authors, outputs, a="one", b="alpha beta")


def test_copies_of_another_client_are_told_from_own_ones(three_authors, score_value) -> None:
    span = "seven words that only c has written "
    rest = " ".join(f"filler{number}" for number in range(30))
    outputs = [span + rest, rest, rest, rest, span + rest, "failed"]
    inputs = with_texts(three_authors, outputs, a="one two three four five", b="alpha beta", c=span)
    scores = copying.score(inputs, Draws(draws=200))
    # of five survivors a's first has c's seven words, and c's one has its own
    assert score_value(scores, "copy5", "others") == score_value(scores, "copy5") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5_rate", "others") == pytest.approx(3 / 33 / 5)
    assert score_value(scores, "longest_copy", "others") == score_value(scores, "longest_copy") == pytest.approx(7 / 5)


def copies(inputs, of_c) -> ScoreInputs:
    """Every output is its author's training text, and some words more."""
    copied = {"a": "a1 a2 a3 a4 a5 a6 a7 a8", "b": "b1 b2 b3 b4 b5 b6", "c": of_c}
    ends = {"a": " x y", "b": " x y z w", "c": " x y z"}
    return with_texts(inputs, [copied[client] + ends[client] for client in inputs.generations["client"]], **copied)


def test_intervals_are_over_authors_whose_outputs_go_together(three_authors, score_value) -> None:
    """By hand: 2, 2 and 1 outputs copy 4, 2 and 3 of their six 5-grams, which is 15 of 30.

    An author raises the mean of all outputs by (share - .5) outputs / (5 / 3): .2, -.2 and 0. Their standard error is
    sqrt(.08 / 3 / 3 * 3 / 2) = .1155; Student's t of two degrees of freedom is 4.303, and nothing is skewed.
    """
    inputs = copies(three_authors, "c1 c2 c3 c4 c5 c6 c7")
    scores = copying.score(inputs, Draws(draws=5000))
    assert score_value(scores, "copy5_rate") == pytest.approx(0.5)
    half = 4.303 * 0.11547
    found = [score_value(scores, "copy5_rate", end) for end in ("low", "high")]
    assert found == pytest.approx([0.5 - half, 0.5 + half], abs=0.03)  # slopes over draws of three, not derivatives
    # no output copies another client: no interval of a width
    assert [score_value(scores, "copy5_rate", f"others_{end}") for end in ("low", "high")] == [0, 0]


def test_authors_without_an_output_do_not_narrow_an_interval(three_authors, score_value) -> None:
    """A's outputs copy 4 of their 6 5-grams, b's 2, and c's failed: .5 with an error of .167, and t of one is 12.7."""
    inputs = copies(three_authors, "c1")
    made = inputs.generations
    inputs = replace(inputs, generations=made.assign(passed=made["passed"] & (made["client"] != "c")))
    scores = copying.score(inputs, Draws(draws=5000))
    assert score_value(scores, "copy5_rate") == pytest.approx(0.5)
    assert [score_value(scores, "copy5_rate", end) for end in ("low", "high")] == [0, 1]  # .5 -+ 2.1, within 0 and 1
    alone = replace(inputs, generations=inputs.generations.assign(passed=made["client"] == "a"))
    scores = copying.score(alone, Draws(draws=200))
    low = scores[(scores["method"] == "m") & (scores["metric"] == "copy5_rate") & (scores["variant"] == "low")]
    assert low["value"].isna().all()
    assert low["note"].tolist() == ["needs outputs of two authors, and some under every seed"]
