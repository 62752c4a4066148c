"""All pairs of rows over authors: the values are the families' own, the differences are paired."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.analysis.test_comparisons import exact_p, failing
from tests.analysis.test_comparisons import inputs as made_inputs

from favor.analysis.evidence import all_pairs
from favor.scores import prototypes, verification
from favor.scores.settings import Prototypes, Verification

inputs = made_inputs


@pytest.fixture(scope="module")
def table(inputs) -> pd.DataFrame:
    return all_pairs(replace(inputs, unseen=inputs.encoders), 3, 500)


def test_values_are_those_that_tables_print(inputs, table) -> None:
    scores = pd.concat([prototypes.score(inputs, Prototypes()), verification.score(inputs, Verification())])
    wrong = scores["variant"] == "failures_wrong"
    scores["metric"] = scores["metric"].where(~wrong, scores["metric"] + "_failures_wrong")
    printed = scores[wrong | (scores["variant"] == "")].groupby(["encoder", "metric", "method"])["value"].mean()
    compared = table[~table["encoder"].isin(["", "unseen"])]
    accuracy = {"author_accuracy", "author_accuracy_failures_wrong", "author_macro_f1"}
    pairs = {"generated_auc", "generated_source_auc", "generated_source_eer"}
    assert set(compared["metric"]) == {*accuracy, *pairs, "target_similarity", "author_margin"}
    for row in compared.itertuples():
        for side, method in ((row.left, row.left_method), (row.right, row.right_method)):
            assert side == pytest.approx(printed[row.encoder, row.metric, method], abs=1e-9)


def test_unseen_encoders_are_compared_by_their_mean(inputs, table) -> None:
    own = table[table["metric"] == "author_accuracy_failures_wrong"].groupby(["left_method", "right_method"])
    for _, rows in own:
        by_encoder = rows.set_index("encoder")
        mean = by_encoder.loc[inputs.encoders, ["left", "right", "delta"]].mean()
        assert by_encoder.loc["unseen", ["left", "right", "delta"]].tolist() == pytest.approx(mean.tolist())
    assert len(table[table["encoder"] == "unseen"]) == 6


def test_positive_favours_the_left_row(table) -> None:
    for metric, sign in (("author_accuracy", 1), ("generated_source_eer", -1)):
        found = table[(table["metric"] == metric) & (table["right_method"] == "near") & (table["left_method"] == "far")]
        row = found.iloc[0]
        assert row["delta"] == pytest.approx(sign * (row["left"] - row["right"]))
        assert row["delta"] < 0  # "near" lies closer to its authors
        assert row["low"] <= row["delta"] <= row["high"]


def test_p_of_equally_many_outputs_is_exact(inputs, table) -> None:
    """Every "near" output and human continuation passed: p is the exact test's of six authors' mean differences."""
    own = inputs.utility[inputs.utility["method"] == "near"].groupby("client")["semantic_similarity"].mean() - 1.0
    of_two = table[table[["left_method", "right_method"]].isin(["near", "gold"]).all(axis=1)].set_index("metric")
    p = of_two.loc["semantic_similarity", "p"]
    assert p == pytest.approx(exact_p(own)) == 2 / 2**6  # no output is as near as the human one to itself


def test_every_pair_stands_once(table) -> None:
    accuracy = table[table["metric"] == "author_accuracy"]
    pairs = [frozenset(pair) for pair in zip(accuracy["left_method"], accuracy["right_method"], strict=True)]
    assert len(set(pairs)) == len(pairs) == 6  # far, near, gold, shuffled
    utility = table[table["encoder"] == ""]
    assert set(utility["metric"]) == {"bertscore_f1", "semantic_similarity"}
    assert np.isfinite(table[["low", "high", "p"]]).all(axis=None)


def test_a_difference_is_over_the_seeds_in_which_both_rows_have_a_value(inputs) -> None:
    """No "near" output of seed 1 passes: its values are those of seed 2, and so are its differences."""
    left = failing(inputs, (inputs.generations["method"] == "near") & (inputs.generations["seed"] == 1))
    table = all_pairs(left, 3, 500)
    passed = left.generations.query("passed").merge(inputs.utility)
    seeds = passed.pivot_table(index="seed", columns="method", values="bertscore_f1")
    row = table[(table["metric"] == "bertscore_f1") & (table["right_method"] == "near")].iloc[0]
    assert row["left_method"] == "far"
    assert (row["left"], row["right"]) == pytest.approx((seeds["far"].mean(), seeds.loc[2, "near"]))
    assert row["delta"] == pytest.approx(seeds.loc[2, "far"] - seeds.loc[2, "near"])
    assert row["by_seed"] == pytest.approx([row["delta"]])
    own = passed[passed["seed"] == 2].pivot_table(index="client", columns="method", values="bertscore_f1")
    assert row["p"] == pytest.approx(exact_p(own["far"] - own["near"]))


def test_rows_without_a_common_seed_are_not_compared(inputs) -> None:
    run = inputs.generations[["method", "seed"]].apply(tuple, axis=1)
    generations = inputs.generations.assign(passed=~run.isin([("near", 1), ("far", 2)]))
    table = all_pairs(replace(inputs, generations=generations), 3, 100)
    both = table[table[["left_method", "right_method"]].isin(["near", "far"]).all(axis=1)]
    assert set(both["metric"]) == {"author_accuracy_failures_wrong"}
