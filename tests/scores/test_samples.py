"""Several samples of one prompt: classes by hand, equal samples, and one sample that has no value."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from favor.scores.inputs import ScoreInputs
from favor.scores.prototypes import leave_one_out
from favor.scores.samples import distinct, score
from favor.scores.settings import Samples
from favor.scores.verification import generated_pairs


def test_classes_by_hand() -> None:
    # The third is like the second but not like the first; the fourth is like none.
    overlaps = np.array([[1, 0.6, 0.1, 0], [0.6, 1, 0.7, 0], [0.1, 0.7, 1, 0], [0, 0, 0, 1.0]])
    assert distinct(overlaps, 0.5) == 3
    assert distinct(overlaps, 0.05) == 2
    assert distinct(np.ones((4, 4)), 0.5) == 1


def with_samples(inputs, texts) -> ScoreInputs:
    """Every output of the first client's first prompt, once per text."""
    one = inputs.generations.query("prompt_id == 'a-1-1'")
    rows = pd.concat([one.assign(sample=number, text=text) for number, text in enumerate(texts)], ignore_index=True)
    vectors = inputs.generation_embeddings["e"].query("prompt_id == 'a-1-1'")
    embedded = pd.concat([vectors.assign(sample=number) for number in range(len(texts))], ignore_index=True)
    return replace(inputs, generations=rows, generation_embeddings={"e": embedded})


def test_scores_over_samples(three_authors, score_value) -> None:
    same = score(with_samples(three_authors, ["one two three"] * 3), Samples())
    assert score_value(same, "distinct_samples") == 1.0
    assert score_value(same, "sample_overlap") == pytest.approx(1.0)
    mixed = score(with_samples(three_authors, ["one two three", "one two three", "four five six"]), Samples())
    assert score_value(mixed, "distinct_samples") == 2.0
    assert score_value(mixed, "sample_overlap") == pytest.approx(1 / 3)
    greedy = score(three_authors, Samples()).set_index("metric")
    assert greedy["value"].isna().all()
    assert "generation.samples" in greedy.loc["distinct_samples", "note"]


def test_samples_of_one_prompt_verify_nothing(three_authors) -> None:
    inputs = with_samples(three_authors, ["one two", "three four"])
    (run, *_) = inputs.runs
    assert len(generated_pairs(inputs.vectors("e", run), run)) == 0
    vectors = np.array([[1.0, 0], [1, 0], [0, 1], [0.6, 0.8]])
    authors, prompts = np.array(["a", "a", "b", "b"], dtype=object), np.array(["p", "p", "q", "r"])
    # Author a has one prompt alone, so its samples have no other output to be told by.
    assert leave_one_out(vectors, authors, prompts)[0].tolist() == ["b", "b"]
