"""Copied word 5-grams."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.scores import copying
from favor.scores.copying import word_list


def test_words_are_compared_without_case_and_marks() -> None:
    assert word_list("the QUICK, brown fox...") == ["the", "quick", "brown", "fox"]
    assert word_list("don’t a") == ["don't", "a"]


def test_family(three_authors, score_value) -> None:
    texts = pd.DataFrame(
        [("a", "one two three four five six"), ("b", "alpha beta"), ("c", "")], columns=["client", "training_text"]
    )
    generations = three_authors.generations.assign(
        text=["One two three four five", "nothing here at all to see", "alpha beta", "x", "y", "failed"]
    )
    inputs = type(three_authors)(
        generations,
        three_authors.prompts,
        three_authors.generation_embeddings,
        three_authors.source_embeddings,
        client_texts=texts,
    )
    scores = copying.score(inputs)
    # five survivors; one copies, with its only 5-gram
    assert score_value(scores, "copy5") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5_rate") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5", method="gold") == 0.0
    # the human texts have 22 words and so does no output
    assert scores.loc[scores["metric"] == "longest_copy", "note"].isin(["no output has 22 words", ""]).all()
    assert score_value(scores, "longest_copy", method="gold") == 0.0
    with pytest.raises(UserError, match="needs the clients' texts"):
        copying.score(three_authors)
    with pytest.raises(UserError, match="1 of the clients have no row"):
        type(three_authors)(
            generations,
            three_authors.prompts,
            three_authors.generation_embeddings,
            three_authors.source_embeddings,
            client_texts=texts.iloc[:2],
        )


def test_copies_of_another_client_are_told_from_own_ones(three_authors, score_value) -> None:
    span = "seven words that only c has written "
    rest = " ".join(f"filler{number}" for number in range(30))
    texts = pd.DataFrame(
        [("a", "one two three four five"), ("b", "alpha beta"), ("c", span)], columns=["client", "training_text"]
    )
    generations = three_authors.generations.assign(text=[span + rest, rest, rest, rest, span + rest, "failed"])
    inputs = replace(three_authors, generations=generations, client_texts=texts, _cache={})
    scores = copying.score(inputs)
    # of five survivors a's first has c's seven words, and c's one has its own
    assert score_value(scores, "copy5", "others") == score_value(scores, "copy5") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5_rate", "others") == pytest.approx(3 / 33 / 5)
    assert score_value(scores, "longest_copy", "others") == score_value(scores, "longest_copy") == pytest.approx(7 / 5)
