"""Fixed prototypes and margins, by hand in the plane."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.scores.conftest import direction

from favor.foundation.errors import UserError
from favor.scores.cold_start import score
from favor.scores.inputs import ScoreInputs
from favor.scores.prototypes import figures
from favor.scores.settings import InSpaces


def with_references(inputs, references) -> ScoreInputs:
    """The inputs with texts set aside, as angles by client."""
    rows = [
        (client, f"{client}-r{number}", "reference", "Student", direction(degrees))
        for client, angles in references.items()
        for number, degrees in enumerate(angles)
    ]
    more = pd.DataFrame(rows, columns=["client", "item", "kind", "topic", "embedding"])
    sources = {"e": pd.concat([inputs.source_embeddings["e"], more], ignore_index=True)}
    return replace(inputs, source_embeddings=sources)


def test_fixed_prototypes_by_hand(inputs_maker, score_value) -> None:
    """K-shot prototypes at 0, 90 and 180 degrees, fixed ones at 60, 90 and 180; five outputs pass."""
    human = {"a": [0.0, 0.0], "b": [90.0, 90.0], "c": [180.0, 180.0]}
    generated = {"a": [0.0, 80.0], "b": [90.0, 60.0], "c": [180.0, None]}
    made = inputs_maker(train=human, gold=human, generated=generated)
    scores = score(with_references(made, {"a": [50.0, 70.0], "b": [90.0], "c": [170.0, 190.0]}), InSpaces())
    # a at 0 is nearest a (60 degrees off), a at 80 nearest b; b at 90 nearest b, b at 60 nearest a; c right: 3 of 5.
    assert score_value(scores, "fixed_accuracy") == pytest.approx(3 / 5)
    # Predicted a, b, b, a, c: F1 of a is 2 * 1 / (2 + 2), of b 1 / 2 too, of c 1.
    assert score_value(scores, "fixed_macro_f1") == pytest.approx((0.5 + 0.5 + 1) / 3)
    cosine = {d: float(np.cos(np.radians(d))) for d in (0, 10, 20, 30, 60, 90, 100, 120, 180)}
    target = [cosine[60], cosine[20], 1.0, cosine[30], 1.0]
    others = [
        (cosine[90] + cosine[180]) / 2,  # a at 0: b at 90, c at 180
        (cosine[10] + cosine[100]) / 2,  # a at 80
        (cosine[30] + cosine[90]) / 2,  # b at 90: a at 60, c
        (cosine[0] + cosine[120]) / 2,  # b at 60
        (cosine[120] + cosine[90]) / 2,  # c at 180
    ]
    assert score_value(scores, "fixed_target_similarity") == pytest.approx(np.mean(target))
    assert score_value(scores, "fixed_margin") == pytest.approx(np.mean(np.subtract(target, others)))
    near = [1.0, np.cos(np.radians(80)), 1.0, np.cos(np.radians(30)), 1.0]
    far = [
        (cosine[90] + cosine[180]) / 2, (cosine[10] + cosine[100]) / 2, cosine[90],
        (cosine[60] + cosine[120]) / 2, (cosine[180] + cosine[90]) / 2,
    ]  # fmt: skip
    assert score_value(scores, "shot_margin") == pytest.approx(np.mean(np.subtract(near, far)))
    # The authors' own continuations, at 0, 90 and 180 degrees, are all nearest their own fixed prototype.
    assert score_value(scores, "fixed_accuracy", method="gold") == 1.0


def test_an_only_author_has_no_margin() -> None:
    found = figures(np.array([direction(0)]), np.array(["a"], dtype=object), np.array([direction(60)]), ["a"])
    assert found["correct"].tolist() == [True]
    assert found["target"].tolist() == pytest.approx([0.5])
    assert np.isnan(found["margin"].iloc[0])


def test_no_output_and_no_texts_set_aside(inputs_maker, three_authors) -> None:
    angles = {"a": [0.0], "b": [9.0]}
    nothing = inputs_maker(train=angles, gold=angles, generated={"a": [None], "b": [None]})
    scores = score(with_references(nothing, angles), InSpaces())
    rows = scores[scores["method"] == "m"]
    assert rows["value"].isna().all()
    assert set(rows["note"]) == {"no output passed the filter"}
    with pytest.raises(UserError, match=r"set allocation\.shots and allocation\.reference_texts"):
        score(three_authors, InSpaces())
