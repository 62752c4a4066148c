"""Encoder transfer by hand: accuracy and AUC of held-out texts, encoders of one size together, no second corpus."""

import math

import numpy as np
import pandas as pd
import pytest

from favor.paper.values import load_paper_values
from favor.scores.metric import Score, scores_frame
from favor.studies.transfer.transfer import NO_CORPUS, TrainedOn, transfer_scores
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.specs import Context

# Two authors: training texts at 0 and 90 degrees. Held out: one text of each on its own side, and one of the first
# author at 75 degrees, nearer to the second's prototype.
ANGLES = [("a", "train", 0), ("b", "train", 90), ("a", "test", 10), ("b", "test", 65), ("a", "test", 75)]
MANIFEST = TrainedOn(4, 40)


def table(angles=ANGLES) -> pd.DataFrame:
    rows = [
        (client, f"{client}{number}", kind, "indUnk", [math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        for number, (client, kind, angle) in enumerate(angles)
    ]
    return pd.DataFrame(rows, columns=["client", "item", "kind", "topic", "embedding"])


def value(scores, encoder, metric, variant="") -> pd.Series:
    keys = (scores["encoder"] == encoder) & (scores["metric"] == metric) & (scores["variant"] == variant)
    (row,) = scores[keys].itertuples()
    return row


def test_accuracy_and_auc_by_hand() -> None:
    scores = transfer_scores({"e": table()}, {"e": MANIFEST}, seed=1, draws=500)
    assert value(scores, "e", "transfer_accuracy").value == pytest.approx(2 / 3)
    # Cosines to the own training text: cos 10, cos 25, cos 75 degrees; to the other's: cos 80, cos 65, cos 15. Of nine
    # comparisons cos 10 wins three, cos 25 two, cos 75 one.
    assert value(scores, "e", "transfer_auc").value == pytest.approx(6 / 9)
    assert value(scores, "e", "transfer_auc").n == 6
    low, high = (value(scores, "e", "transfer_accuracy", end).value for end in ("low", "high"))
    # A resample of both authors: a alone (1/2), both (2/3, twice as likely), b alone (1). Error .2569, as 3.368 trials
    # have it; Wilson's limits with t(.975, 1) = 12.706.
    assert (low, high) == pytest.approx((0.0091, 0.9979), abs=1e-3)
    assert value(scores, "e", "encoder_examples").value == 40


def test_authors_without_a_held_out_text_are_in_no_interval() -> None:
    """Two authors who are found: Wilson's lower limit of 2 of 2 is 1 / (1 + t^2 / 2), with t = 12.706 of one degree."""
    right = table([*ANGLES[:4], ("a", "test", 20), ("c", "train", 180)])
    scores = transfer_scores({"e": right}, {"e": MANIFEST}, seed=1, draws=500)
    assert value(scores, "e", "transfer_accuracy", "low").value == pytest.approx(1 / (1 + 12.706**2 / 2), rel=1e-3)


def test_one_author_with_held_out_texts_has_no_interval() -> None:
    alone = table([row for row in ANGLES if row != ("b", "test", 65)])
    scores = transfer_scores({"e": alone}, {"e": MANIFEST}, seed=1, draws=500)
    assert value(scores, "e", "transfer_accuracy").value == 1 / 2
    for metric in ("transfer_accuracy", "transfer_auc"):
        assert value(scores, "e", metric, "low").note == "needs held-out texts of two authors"


def test_encoders_trained_on_one_number_of_authors_stand_together() -> None:
    right = table([*ANGLES[:4], ("a", "test", 20)])
    manifests = {"e": MANIFEST, "f": TrainedOn(4, 44), "g": TrainedOn(9, 90)}
    scores = transfer_scores({"e": table(), "f": right, "g": right}, manifests, seed=1, draws=500)
    assert value(scores, "f", "transfer_accuracy").value == 1.0
    assert value(scores, "authors=4", "transfer_accuracy").value == pytest.approx((2 / 3 + 1) / 2)
    low, high = (value(scores, "authors=4", "transfer_accuracy", end).value for end in ("low", "high"))
    # The mean of both in each resample, 3/4, 5/6 or 1: error .1284, as 8.42 trials of 5/6 have it.
    # (.8333 + 9.585 -+ 9.729) / 20.17
    assert (low, high) == pytest.approx((0.0342, 0.9989), abs=4e-3)
    assert value(scores, "authors=4", "encoder_examples").value == 42
    assert value(scores, "authors=9", "transfer_accuracy").value == 1.0


def test_without_a_second_corpus_the_reason_stands_in_the_scores() -> None:
    scores = transfer_scores({"e": None}, {"e": MANIFEST}, seed=1, draws=500)
    assert value(scores, "authors=4", "transfer_auc").note == NO_CORPUS
    assert value(scores, "e", "encoder_authors").value == 4


def test_the_table_has_a_row_for_every_number_of_authors() -> None:
    manifests = {"e": MANIFEST, "f": TrainedOn(4, 40), "g": TrainedOn(10, 1020)}
    scores = transfer_scores(dict.fromkeys(manifests, table()), manifests, seed=1, draws=500)
    made = [
        Score(seed, method, encoder, metric, "", base + 0.1 * (encoder == "f") + 0.01 * (seed == 2), 10)
        for method, base in (("favor", 0.5), ("ditto", 0.4), ("fedavg", 0.2))
        for metric in ("author_accuracy", "generated_source_auc")
        for encoder in manifests
        for seed in (1, 2)
    ]
    everything = pd.concat([scores, scores_frame(made)], ignore_index=True)
    spec = printed_spec("asce-scale-transfer")
    context = Context("x", ["favor", "ditto", "fedavg"], paper_dataset="BlogText", seeds=[1, 2])
    paper = load_paper_values(spec.label)
    cells = build_table(spec, everything, context, paper).set_index(["row", "column"])
    assert list(dict.fromkeys(cells.index.get_level_values("row"))) == ["4", "10"]
    columns = [column.label for column in spec.panels[0].columns]
    assert {column.paper or column.label for column in spec.panels[0].columns} == set(paper["column"])
    # Both encoders of 4 authors and both seeds: 0.5 + 0.05 + 0.005.
    assert cells.loc[("4", columns[1]), "text"] == "0.555 / 0.455 / 0.255"
    assert cells.loc[("10", columns[1]), "text"] == "0.505 / 0.405 / 0.205"
    assert cells.loc[("10", "Examples"), ["text", "paper_text"]].tolist() == ["1,020", "1,020"]
    assert cells.loc[("4", columns[3]), "text"] == "0.667 [0.009, 0.998]"
    assert cells.loc[("10", columns[4]), "paper_text"] == "0.647 [0.618,0.677]"
    lost = everything[everything["method"] != "ditto"]
    cells = build_table(spec, lost, context).set_index(["row", "column"])
    assert cells.loc[("10", columns[1]), "text"] == "0.505 / – / 0.205"
    assert cells.loc[("10", columns[1]), "reason"] == "no score of Ditto"
    assert np.isfinite(cells.loc[("10", columns[3]), "value"])
    # One of the four values behind FAVoR's mean is missing: (0.50 + 0.51 + 0.60) / 3, and the cell says so.
    first = (everything["method"] == "favor") & (everything["encoder"] == "f") & (everything["seed"] == 2)
    partial = everything.assign(value=everything["value"].mask(first))
    cells = build_table(spec, partial, context).set_index(["row", "column"])
    assert cells.loc[("4", columns[1]), "text"] == "0.537 / 0.455 / 0.255"
    assert cells.loc[("4", columns[1]), "reason"] == "FAVoR: mean over 3 of 4 encoders and seeds"
    assert cells.loc[("10", columns[1]), "reason"] == ""
