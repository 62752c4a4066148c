"""Nearest-prototype accuracy and macro-F1, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from tests.scores.conftest import direction

from favor.foundation.errors import UserError
from favor.scores import prototypes
from favor.scores.prototypes import leave_one_out, macro_f1
from favor.scores.settings import Prototypes


def cosine(degrees) -> float:
    return float(np.cos(np.radians(degrees)))


def test_default_by_hand(three_authors, score_value) -> None:
    # prototypes lie at 0, 90 and 180 degrees. Survivors: a 0->a, a 20->a, b 90->b, b 30->a (wrong), c 180->c
    scores = prototypes.score(three_authors, Prototypes())
    assert score_value(scores, "author_accuracy") == pytest.approx(4 / 5)
    # F1: a precision 2/3 recall 1 = 0.8; b precision 1 recall 1/2 = 2/3; c 1
    assert score_value(scores, "author_macro_f1") == pytest.approx((0.8 + 2 / 3 + 1) / 3)
    assert score_value(scores, "top1_cosine") == pytest.approx((1 + cosine(20) + 1 + cosine(30) + 1) / 5)
    assert score_value(scores, "target_similarity") == pytest.approx((1 + cosine(20) + 1 + cosine(60) + 1) / 5)
    # Counted as wrong, the failed output too.
    assert score_value(scores, "author_accuracy", "failures_wrong") == pytest.approx(4 / 6)
    # c: precision 1, recall 1/2
    assert score_value(scores, "author_macro_f1", "failures_wrong") == pytest.approx((0.8 + 2 / 3 + 2 / 3) / 3)


def test_labels_of_macro_f1(inputs_maker, score_value) -> None:
    human = {"a": [0], "b": [90], "c": [180]}
    inputs = inputs_maker(train=human, gold=human, generated={"a": [10], "b": [170], "c": [None]})
    scores = prototypes.score(inputs, Prototypes())
    # labels a and b (outputs survive): F1 1 and 0; over the whole roster c adds a third 0
    assert score_value(scores, "author_macro_f1") == pytest.approx(1 / 2)
    assert score_value(scores, "author_macro_f1", "whole_roster") == pytest.approx(1 / 3)


def test_prototypes_normalise_twice(inputs_maker) -> None:
    # vectors of unequal length: (10, 0) and (0, 1) count alike once normalised, so the prototype lies at 45 degrees
    inputs = inputs_maker(train={"a": [0, 90], "b": [180]}, gold={"a": [0], "b": [180]}, generated={"a": [0], "b": [0]})
    frame = inputs.source_embeddings["e"]
    frame.at[frame.index[(frame["item"] == "a-t000")][0], "embedding"] = [10.0, 0.0]
    found = prototypes.prototypes(inputs.sources("e", "train"), ["a", "b"])
    np.testing.assert_allclose(found, [[np.sqrt(0.5), np.sqrt(0.5)], [-1, 0]], atol=1e-12)


def test_first_fifty_texts(inputs_maker, score_value) -> None:
    # a's first 50 texts lie at 0, the later 200 at 120 degrees: the default prototype moves to about 101 degrees, past
    # b's 60, so an output at 20 degrees is nearer to b by default and to a by the first 50.
    inputs = inputs_maker(
        train={"a": [0] * 50 + [120] * 200, "b": [60]}, gold={"a": [0], "b": [60]}, generated={"a": [20], "b": [60]}
    )
    scores = prototypes.score(inputs, Prototypes())
    assert score_value(scores, "author_accuracy") == 0.5
    assert score_value(scores, "author_accuracy", "first50x1500") == 1.0


def test_leave_one_out_by_hand() -> None:
    # a at 0, 10, 100; b at 90, 80; the only output of c (at 45) has no other. For a's output at 100: the rest of a lies
    # at 5 degrees (95 away), b's prototype at 85 (15 away): wrong. The other four are right: a's 0 (rest of a at 55,
    # b at 85, c at 45!) -> c is nearer than a: wrong.
    vectors = np.array([direction(degrees) for degrees in (0, 10, 100, 90, 80, 45)])
    true, predicted = leave_one_out(vectors, np.array(["a", "a", "a", "b", "b", "c"], dtype=object), np.arange(6))
    assert true.tolist() == ["a", "a", "a", "b", "b"]
    # a's 10: rest of a at 50 degrees (40 away), c 35 away -> c. b's 90: rest at 80. b's 80: rest at 90.
    assert predicted.tolist() == ["c", "c", "b", "b", "b"]


def test_controls_bound_the_method(three_authors, score_value) -> None:
    scores = prototypes.score(three_authors, Prototypes(variants=[]))
    assert score_value(scores, "author_accuracy", method="gold") == 1.0
    assert score_value(scores, "author_accuracy", method="shuffled") == 0.0
    assert set(scores["variant"]) == {""}


def test_nothing_survives(inputs_maker) -> None:
    inputs = inputs_maker(train={"a": [0], "b": [90]}, gold={"a": [0], "b": [9]}, generated={"a": [1], "b": [2]})
    inputs = replace(inputs, generations=inputs.generations.assign(passed=False))
    scores = prototypes.score(inputs, Prototypes())
    rows = scores[scores["method"] == "m"]
    # the same rows as any run; counted as wrong, both outputs are wrong
    names = ["metric", "variant"]
    assert sorted(rows[names].agg(" ".join, axis=1)) == sorted(
        scores.loc[scores["method"] == "gold", names].agg(" ".join, axis=1)
    )
    wrong = rows["variant"] == "failures_wrong"
    assert rows.loc[wrong, ["value", "n"]].to_numpy().tolist() == [[0.0, 2], [0.0, 2]]
    assert rows.loc[~wrong, "value"].isna().all()
    assert set(rows.loc[~wrong, "note"]) == {"no output passed the filter"}


def test_macro_f1_against_the_definition() -> None:
    generator = np.random.default_rng(0)
    true, predicted = generator.integers(0, 5, 60), generator.integers(0, 7, 60)
    expected = []
    for label in range(5):
        hits = ((true == label) & (predicted == label)).sum()
        expected.append(2 * hits / ((true == label).sum() + (predicted == label).sum()))
    assert macro_f1(true, predicted, [str(i) for i in range(5)]) == pytest.approx(np.mean(expected))
    # "nobody" is neither true nor predicted
    assert macro_f1(["a", "b"], np.array(["a", "b"]), ["a", "b", "nobody"]) == pytest.approx(2 / 3)


def test_unknown_settings(three_authors) -> None:
    with pytest.raises(UserError, match="encoder 'luar' has no embeddings"):
        prototypes.score(three_authors, Prototypes(encoders=["luar"]))
