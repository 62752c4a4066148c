"""Assistant score and phrases, by hand."""

from dataclasses import replace

import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.scores import assistant
from favor.scores.assistant import phrase_matches
from favor.scores.inputs import RUN_KEYS
from favor.scores.settings import AssistantScore


def test_phrases_match_whole_words_once() -> None:
    assert phrase_matches("Feel free  to ask. As an AI, I’m here to help!") == 3
    assert phrase_matches("There is a dog") == 0
    assert phrase_matches("There is a dog", substring=True) == 1  # "here is a" inside "there is a"
    assert phrase_matches("It fosters a sense of community") == 1  # the longest match is taken, without overlap
    assert phrase_matches("") == 0


def table(inputs) -> pd.DataFrame:
    made = inputs.generations[RUN_KEYS].assign(assistant_score=[0.1, 0.2, 0.3, 0.4, 0.5, 0.9])
    gold = inputs.generations[RUN_KEYS].assign(method="gold", assistant_score=[0.0, 0.0, 0.1, 0.1, 0.2, 0.2])
    return pd.concat([made, gold], ignore_index=True)


def test_family(three_authors, score_value) -> None:
    texts = ["in summary one two three four five six seven", *["plain words of a text"] * 4, "Certainly! failed"]
    inputs = replace(
        three_authors, generations=three_authors.generations.assign(text=texts), assistant=table(three_authors)
    )
    scores = assistant.score(inputs, AssistantScore())
    assert score_value(scores, "assistant_score") == pytest.approx(0.3)  # five survivors
    assert score_value(scores, "assistant_score", "all_outputs") == pytest.approx(2.4 / 6)
    assert score_value(scores, "assistant_score", method="gold") == pytest.approx(0.1)
    assert score_value(scores, "assistant_score", method="shuffled") == pytest.approx(0.1)  # the texts, dealt again
    # one match in 9 + 4 * 5 words
    assert score_value(scores, "assistant_phrase_rate") == pytest.approx(1000 / 29)


def test_without_a_classifier_the_score_has_a_reason_and_phrases_are_counted(three_authors) -> None:
    scores = assistant.score(three_authors, AssistantScore()).set_index(["method", "metric", "variant"])
    note = scores.loc[("m", "assistant_score", ""), "note"]
    assert note == "no assistant texts are configured (evaluation.assistant)"
    assert scores.loc[("m", "assistant_phrase_rate", ""), "value"] == 0.0


def test_missing_scores_are_named(three_authors) -> None:
    with pytest.raises(UserError, match="the assistant scores: 1 of the generations have no row"):
        replace(three_authors, assistant=table(three_authors).iloc[1:])
