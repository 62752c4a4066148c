"""Validation losses of what clients generate with, from training logs written by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from favor.paper.measured_numbers import validated_numbers
from favor.scores.validation import final_losses, over_trained, personal_changes, validation_scores, worse_lines
from favor.statistics.bootstrap import skewed_limits

NAN = float("nan")
ROWS = [
    ("shared", 3, "a", 0, 9.0),
    ("personal", 0, "a", 1, 1.0),  # of an earlier participation
    ("personal", 2, "a", 1, 3.0),
    ("personal", 2, "a", 0, NAN),  # within a pass
    ("personal", 2, "a", 3, 3.5),
    ("personal", 1, "b", 1, 4.0),
    ("personal", 1, "b", 0, NAN),
    ("personal", 1, "c", 0, NAN),  # no validation text
]
LOG = pd.DataFrame(ROWS, columns=["stage", "round", "client", "step", "validation_loss"])


def test_the_loss_of_what_the_last_participation_ended_with() -> None:
    assert final_losses(LOG, "personal", stopped=False) == {"a": 3.5, "b": 4.0}
    assert final_losses(LOG, "shared", stopped=False) == {"a": 9.0}
    # A stage that stops early keeps its best pass.
    assert final_losses(LOG, "personal", stopped=True) == {"a": 3.0, "b": 4.0}
    assert final_losses(LOG.iloc[:0], "personal", stopped=False) == {}


def test_means_over_seeds_and_an_interval_over_authors() -> None:
    runs = [{"a": 2.0, "b": 3.0, "c": 4.0, "d": 9.0}, {"a": 4.0, "b": 3.0, "c": 6.0}]  # d is not sampled under a seed
    scores = validation_scores({"favor": runs, "fedavg": [{}, {}]}, {}, {"fedavg": "no adapter of its own"}, 7, 20_000)
    own = scores[scores["method"] == "favor"].set_index(["metric", "variant"])
    # Authors: 3, 3 and 5. Mean 11 / 3; standard deviation 2 / sqrt(3), standard error 2 / 3; t of 2 degrees is 4.303.
    assert own.loc[("validation_loss", ""), "value"] == pytest.approx(11 / 3)
    assert own.loc[("validation_loss", ""), "n"] == 3
    # Deviations -2/3, -2/3, 4/3: skewness (16/27) / (8/9)^1.5 = .707, of the mean .707 / sqrt(3) = .408.
    low, high = skewed_limits(11 / 3, 2 / 3, 0.408, 4.303)
    assert own.loc[("validation_loss", "low"), "value"] == pytest.approx(low, rel=0.05)
    assert own.loc[("validation_loss", "high"), "value"] == pytest.approx(high, rel=0.05)
    authors = own.loc["author_validation_loss", "value"]
    assert authors.to_dict() == {"a": 3.0, "b": 3.0, "c": 5.0}
    rest = scores[scores["method"] == "fedavg"]
    assert rest["value"].isna().all()
    notes = {"validation_loss": "no adapter of its own", "worse_authors": "no personal stage read validation texts"}
    assert rest.set_index("metric")["note"].to_dict() == notes


def test_one_author_has_no_interval() -> None:
    scores = validation_scores({"favor": [{"a": 2.0}]}, {}, {}, 7, 100)
    scores = scores[scores["metric"] != "worse_authors"].set_index("variant")
    assert scores.loc["", "value"] == 2.0
    assert math.isnan(scores.loc["low", "value"])
    assert np.isfinite(scores.loc["a", "value"])


def test_authors_whose_loss_ends_above_its_start_are_counted_and_said() -> None:
    """At a rate that is too high two of three authors end worse than they began; the best pass may still be better."""
    before = pd.Series([NAN, 2.0, 2.0, NAN, NAN, NAN, 5.0, NAN], name="validation_loss_before")
    rows = LOG.assign(validation_loss_before=before)
    rows.loc[3, "validation_loss_before"] = 3.2  # step 0 of the last participation
    rows.loc[2, "validation_loss_before"] = NAN
    assert personal_changes(rows, stopped=False) == pytest.approx({"a": 0.3, "b": -1.0})
    assert personal_changes(rows, stopped=True) == pytest.approx({"a": -0.2, "b": -1.0})
    losses = [{"a": 1.0, "b": 1.0, "c": 1.0}]
    changes = {"favor": [{"a": 0.3, "b": -1.0, "c": 0.1}, {"a": 0.1, "b": -1.0, "c": 0.1}]}
    scores = validation_scores({"favor": losses * 2, "fedavg": losses}, changes, {}, 7, 100)
    assert worse_lines(scores, {"favor": "FAVoR"}) == ["FAVoR 2 of 3"]
    assert "FAVoR 2 of 3. Lower its learning rate" in over_trained(scores, {"favor": "FAVoR"})
    few = validation_scores({"favor": losses}, {"favor": [{"a": 0.3, "b": -1.0, "c": -0.1}]}, {}, 7, 100)
    assert over_trained(few, {"favor": "FAVoR"}) == ""
    assert [made["value"] for made in validated_numbers(scores)] == [2.0, None]
