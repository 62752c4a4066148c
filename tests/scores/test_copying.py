"""Copied word 5-grams."""

from __future__ import annotations

import pandas as pd
import pytest

from favor.foundation.errors import UserError
from favor.scores import copying
from favor.scores.copying import copied_share, word_grams


def test_by_hand() -> None:
    known = set(word_grams("The quick brown fox jumps over it"))
    # words: the quick brown fox jumps high -> 2 5-grams, the first is known
    assert copied_share("the QUICK, brown fox... jumps high", known) == 0.5
    assert copied_share("too short", known) == 0.0
    assert word_grams("don’t a b c d") == [("don't", "a", "b", "c", "d")]


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
    scores = copying.score(inputs, {})
    # five survivors; one copies, with its only 5-gram
    assert score_value(scores, "copy5") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5_rate") == pytest.approx(1 / 5)
    assert score_value(scores, "copy5", method="gold") == 0.0
    with pytest.raises(UserError, match="needs the clients' texts"):
        copying.score(three_authors, {})
    with pytest.raises(UserError, match="1 of the clients have no row"):
        type(three_authors)(
            generations,
            three_authors.prompts,
            three_authors.generation_embeddings,
            three_authors.source_embeddings,
            client_texts=texts.iloc[:2],
        )
