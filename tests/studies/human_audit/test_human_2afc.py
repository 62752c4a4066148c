"""Scores of the human audit and the tables that print them, against the paper's own counts."""

import re
from functools import reduce

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import beta, binomtest

from favor.config.resolve import resolve
from favor.paper.values import load_paper_values
from favor.studies.human_audit.human_2afc import METRICS, NO_RESPONSES, audit_scores, missing_scores
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.html import html_document
from favor.tables.latex import latex_table
from favor.tables.specs import Context

SOURCES = ("ditto", "favor", "gold")
CONTEXT = Context("trial", ("fedavg", "ditto", "favor"), "Blogs", "BlogText", seeds=(2026, 2027, 2028))

# The paper's percentages and its 34 unanimous and 16 split items hold with these items by (source, votes for the right
# author): Ditto 7*3 + 7*2 + 6*1 = 41 of 60 votes, majority 14 of 20; FAVoR 17*3 + 2*2 = 55 of 60, 19 of 20; human
# 9*3 + 1 = 28 of 30, 9 of 10; split are 7 + 6 + 2 + 1 = 16. If A is right everywhere, A has 124 votes; each of 11
# unanimous items turned to B takes 3 away, each of 2 split ones 1: 124 - 33 - 2 = 89.
CORRECT = {"ditto": [3] * 7 + [2] * 7 + [1] * 6, "favor": [3] * 17 + [2] * 2 + [0], "gold": [3] * 9 + [1]}
RIGHT_B = {("favor", number) for number in range(11)} | {("ditto", 7), ("ditto", 8)}


def papers_votes() -> pd.DataFrame:
    rows = []
    for source, counts in CORRECT.items():
        for number, count in enumerate(counts):
            right, wrong = "BA" if (source, number) in RIGHT_B else "AB"
            for annotator in range(3):
                correct = annotator < count
                row = {"annotator": f"annotator_{annotator + 1}", "item": f"{source}{number}", "source": source}
                row["client"] = f"c{number:02d}"
                row |= {"choice": right if correct else wrong, "correct": correct, "confidence": 3, "comment": ""}
                rows.append(row)
    return pd.DataFrame(rows)


def values(scores) -> dict[tuple[str, str], float]:
    return {(row.method, row.metric): row.value for row in scores.itertuples() if row.variant == ""}


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return audit_scores(papers_votes(), SOURCES, 3, 1)


def test_attention_checks_are_counted_by_annotator_and_for_nothing_else(scores) -> None:
    checks = pd.DataFrame(
        [
            {"annotator": name, "item": f"check{number}", "source": "attention_check", "client": "c0",
             "choice": "A", "correct": number < right, "confidence": 5, "comment": ""}
            for name, right in (("annotator_1", 4), ("annotator_2", 3), ("annotator_3", 4))
            for number in range(4)
        ]
    )  # fmt: skip
    found = audit_scores(pd.concat([papers_votes(), checks], ignore_index=True), SOURCES, 3, 1)
    passed = found[found["metric"] == "attention_checks_passed"]
    assert passed["variant"].tolist() == ["annotator_1", "annotator_2", "annotator_3"]
    assert passed[["value", "n"]].to_numpy().tolist() == [[4, 4], [3, 4], [4, 4]]
    pd.testing.assert_frame_equal(found[found["metric"] != "attention_checks_passed"].reset_index(drop=True), scores)
    cells = build_table(printed_spec("human-2afc-agreement"), found, CONTEXT)
    said = "attention checks passed: annotator_1 4 of 4, annotator_2 3 of 4, annotator_3 4 of 4"
    assert set(cells["reason"]) == {"", said}


def test_the_papers_counts_give_the_papers_figures(scores) -> None:
    assert papers_votes()["choice"].value_counts().to_dict() == {"A": 89, "B": 61}
    found = values(scores)
    assert found["", "unanimous_items"] == 34
    assert found["", "tied_items"] == 0
    # (34 * 1 + 16 / 3) / 50, and Fleiss' kappa with (89/150)^2 + (61/150)^2 expected
    assert found["", "pairwise_agreement"] == pytest.approx(0.7867, abs=5e-5)
    assert found["", "fleiss_kappa"] == pytest.approx(0.5579, abs=5e-5)
    assert found["ditto", "vote_accuracy"] == pytest.approx(41 / 60)
    assert found["", "majority_accuracy"] == 0.84


def test_the_table_prints_what_the_paper_prints(scores) -> None:
    spec = printed_spec("human_2afc_audit")
    paper = load_paper_values(spec.label)
    cells = build_table(spec, scores, CONTEXT, paper)
    ours = {(row.row, row.column): row.text.split(" [")[0] for row in cells.itertuples()}
    printed = {(row.row, row.column): row.text for row in paper.itertuples()}
    assert ours.keys() == printed.keys()
    assert {key for key in ours if ours[key] != printed[key]} <= {key for key in ours if key[1] == "Mean conf."}
    assert cells["row"].drop_duplicates().tolist() == ["Ditto", "FAVoR", "Human ref.", "Overall"]
    beside = cells.set_index(["row", "column"])
    assert beside.loc[("FAVoR", "Vote acc."), "paper_text"] == "91.7%"
    assert beside.loc[("Overall", "Mean conf."), "paper_value"] == 3.31
    assert (cells["reason"] == "").all()
    assert r"91.7\%" in latex_table(spec, cells)
    assert "91.7%" in html_document(spec, cells)


def test_the_agreement_table() -> None:
    spec = printed_spec("human-2afc-agreement")
    cells = build_table(spec, audit_scores(papers_votes(), SOURCES, 4, 1), CONTEXT).set_index(["row", "column"])
    expected = {"Annotators": "3", "Items": "50", "Unanimous": "34", "Ties": "0", "Votes for A": "89"}
    expected |= {"Pairwise agreement": "0.787", "Fleiss' κ": "0.558"}
    assert cells.loc["Overall"]["text"].str.split(" [", regex=False).str[0].to_dict() == expected
    assert cells.loc[("Overall", "Annotators"), "reason"] == "3 of 4 annotators have answered"


def test_two_annotators_may_tie_and_a_tie_is_no_correct_majority() -> None:
    votes = papers_votes()
    found = values(audit_scores(votes[votes["annotator"] != "annotator_3"], SOURCES, 3, 1))
    # Of two votes, items with 1 correct of 3 have 1 of 2: 6 of Ditto's and 1 human one; those with 2 keep both.
    assert found["ditto", "tied_items"] == 6
    assert found["ditto", "majority_accuracy"] == 14 / 20
    assert found["gold", "majority_accuracy"] == 9 / 10


def test_one_annotator_has_nobody_to_agree_with() -> None:
    votes = papers_votes()
    scores = audit_scores(votes[votes["annotator"] == "annotator_1"], SOURCES, 3, 1)
    alone = scores[scores["note"] != ""]
    assert set(scores[scores["variant"] == "low"]["metric"]) == {"vote_accuracy", "majority_accuracy"}
    assert set(alone["metric"]) == {"unanimous_items", "pairwise_agreement", "fleiss_kappa"}
    assert set(alone["note"]) == {"agreement needs two annotators"}
    # Only FAVoR's item with no correct vote lacks the first annotator's.
    found = values(scores)
    assert found["favor", "vote_accuracy"] == 19 / 20 == found["favor", "majority_accuracy"]


def test_kappa_of_one_sided_votes_has_a_reason() -> None:
    votes = papers_votes().assign(choice="A")
    scores = audit_scores(votes, SOURCES, 3, 1).set_index(["method", "metric", "variant"])
    assert np.isnan(scores.loc[("", "fleiss_kappa"), "value"]).all()
    assert scores.loc[("", "fleiss_kappa", ""), "note"] == "every vote is for the same profile"
    assert scores.loc[("", "pairwise_agreement", ""), "value"] == 1


def limits(scores, method, metric) -> tuple[float, float]:
    rows = scores[(scores["method"] == method) & (scores["metric"] == metric)].set_index("variant")["value"]
    return rows["low"], rows["high"]


def test_limits_are_those_of_authors(scores) -> None:
    # Ten human items of ten authors, nine with the right majority: Jeffreys's limits of 9 of 10.
    assert limits(scores, "gold", "majority_accuracy") == pytest.approx(beta.ppf([0.025, 0.975], 9.5, 1.5))
    # Three votes on an item are not three decisions: with copies of one, 28 of 30 would be far surer.
    low, high = limits(scores, "gold", "vote_accuracy")
    assert low < binomtest(28, 30).proportion_ci().low < 28 / 30 < high
    # Overall c00 to c09 have three items and c10 to c19 two.
    low, high = limits(scores, "", "majority_accuracy")
    assert low < 0.84 < high
    low, high = limits(scores, "", "fleiss_kappa")
    assert 0.2 < low < 0.558 < high < 0.9
    cells = build_table(printed_spec("human_2afc_audit"), scores, CONTEXT).set_index(["row", "column"])
    assert cells.loc[("Human ref.", "Maj. acc."), "text"] == "90.0% [61.9%, 98.9%]"
    assert cells.loc[("Human ref.", "Votes"), "text"] == "30"


def test_items_of_one_author_have_wider_limits() -> None:
    votes = papers_votes()
    apart, together = (
        audit_scores(votes.assign(client=clients), SOURCES, 3, 1) for clients in (votes["item"], votes["item"].str[-1])
    )
    for metric in ("vote_accuracy", "majority_accuracy", "pairwise_agreement"):
        assert limits(together, "", metric)[0] < limits(apart, "", metric)[0] < limits(apart, "", metric)[1]


def test_without_responses_every_cell_is_a_dash_with_its_reason() -> None:
    scores = audit_scores(papers_votes().iloc[:0], SOURCES, 3, 1)
    assert len(scores) == (len(METRICS) - 1) * 4  # attention checks are scored where there are any
    for label in ("human_2afc_audit", "human-2afc-agreement"):
        cells = build_table(printed_spec(label), scores, CONTEXT)
        assert set(cells["text"]) == {"–"}
        assert set(cells["reason"]) == {NO_RESPONSES}
        assert cells["row"].drop_duplicates().tolist() == ["Ditto", "FAVoR", "Human ref.", "Overall"]


def test_rows_are_those_of_the_audit() -> None:
    """Methods that were not audited have no row, a row of the user's own has one before the human texts'."""
    scores = missing_scores(("fedavg", "favor_strong"), "for a reason")
    context = Context("trial", ("fedavg", "ditto", "favor_strong"), display={"favor_strong": "FAVoR (1.0)"})
    cells = build_table(printed_spec("human_2afc_audit"), scores, context)
    assert cells["row"].drop_duplicates().tolist() == ["FedAvg", "FAVoR (1.0)", "Overall"]


def test_the_key_that_it_names_is_one_that_the_configuration_takes(repository, tmp_path) -> None:
    (key,) = re.findall(r"experiments\.NAME\.[\w.]+", NO_RESPONSES)
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    *sections, last = key.replace("NAME", "demo").split(".")
    reduce(lambda section, name: section[name], sections, config)[last] = str(tmp_path)
    assert resolve(config).experiments["demo"].studies.human_2afc.responses == str(tmp_path)
