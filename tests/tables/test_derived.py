"""Cells that a function derives: the topic audit, agreement, paired differences, and what adapters know."""

import math

import pandas as pd
import pytest
from tests.scores.test_likelihood import CLIENTS, own_voice, rows

from favor.scores.likelihood import likelihood_scores
from favor.scores.metric import ALL_SEEDS, SOURCE, Score, scores_frame
from favor.statistics.paired import holm
from favor.tables.build import build_table
from favor.tables.cells import SAME
from favor.tables.completion import printed_spec
from favor.tables.declarations.style_measures import AUTHOR_PROFILES, LIKELIHOOD_ATTRIBUTION, _statistic
from favor.tables.derived import agreement, difference
from favor.tables.specs import Context, Derived, Row

CONTEXT = Context("trial", ["ditto", "favor"], encoders={"style": "asce_a"}, marks="paper")


@pytest.fixture
def verified(score) -> pd.DataFrame:
    """FAVoR above Ditto in MiniLM's space, below in stylometry's; StyleDistance was not there."""
    values = {"minilm": {"favor": (0.7, 0.5), "ditto": (0.5, 0.6)}}
    values["stylometry"] = {"favor": (0.6, 0.6), "ditto": (0.7, 0.7)}
    return pd.DataFrame(
        score(method, "generated_source_auc", value, encoder, seed)
        for encoder, methods in values.items()
        for method, pair in methods.items()
        for seed, value in enumerate(pair)
    )


def test_agreement_counts_the_evaluators_that_were_asked(verified) -> None:
    reason = "no scores of both methods by StyleDistance"
    assert agreement(verified, {}, "favor", "ditto") == (["minilm"], 2, reason)
    row = build_table(printed_spec("phase1-external-agreement"), verified, CONTEXT).set_index("column")
    assert row["text"].to_dict() == {"Support": "1/2", "Fraction": "0.5", "Supporting evaluators": "minilm"}
    assert row.loc["Fraction", "value"] == 0.5
    row = build_table(printed_spec("phase1-external-agreement"), verified.iloc[:0], CONTEXT).set_index("column")
    assert set(row["text"]) == {"–"}
    assert row.loc["Fraction", "reason"] == "no scores of both methods by MiniLM, StyleDistance, Stylometry"


def test_topic_audit(verified, score) -> None:
    roster = [("Student", 5), ("indUnk", 3), ("Arts", 3), ("Law", 1)]
    rows = [score("source", "topic_authors", count, "", 0, "", topic) for topic, count in roster]
    shares = {"": 1.0, "minimum": 0.96}
    rows += [score("source", "dominant_topic_share", value, "", 0, "", variant) for variant, value in shares.items()]
    rows += [score("source", "shared_prompts", 0.0, "", 0)]
    rows += [score("favor", "source_negatives", value, "", seed) for seed, value in enumerate((90.0, 88.0))]
    rows += [score("favor", "generated_negatives", 44.0, "", seed) for seed in range(2)]
    cells = build_table(printed_spec("phase1-topic-audit"), pd.concat([verified, pd.DataFrame(rows)]), CONTEXT)
    assert cells.set_index("row")["text"].to_dict() == {
        "Evaluation authors": "12",
        "Topic source": "Metadata of the corpus, by author",
        "Topics with ≥ 3 authors": "2 usable; 3 including all buckets",
        "Largest topic bucket": "Student: 5/12 (41.7%)",
        "indUnk bucket": "3/12 (25.0%)",
        "Dominant-topic fraction": "mean 1.0; min 1.0",
        "Effective hard-negative mode": "Same-topic cross-author",
        "Protocol A same-prompt feasible": "no",
        "Protocol A same-topic negatives": "88–90",
        "Protocol C same-prompt feasible": "no",
        "Protocol C same-topic negatives": "44",
        "External-evaluator agreement": "1/2 support FAVoR > Ditto",
    }


def test_topic_audit_without_topics_says_so(verified) -> None:
    cells = build_table(printed_spec("phase1-topic-audit"), verified, CONTEXT).set_index("row")
    assert cells.loc["Evaluation authors", ["text", "reason"]].tolist() == ["–", "topics were not scored"]


def test_a_measure_without_an_interval_says_why() -> None:
    values = {"margin": (0.5, 9, ""), "margin_low": (math.nan, 9, "too few"), "margin_high": (math.nan, 9, "too few")}
    scores = scores_frame(Score(ALL_SEEDS, SOURCE, "e", "agreement", name, *values[name]) for name in values)
    found = _statistic("agreement", 2, interval=True)(Row(("Margin",), metric="margin", encoder="e"), scores, {})
    assert (found.text, found.value, found.reason) == ("0.50", 0.5, "no interval: too few")


def frame(encoder="asce_a", prefix="common_") -> pd.DataFrame:
    """FAVoR is .2 above Ditto (p .03) and .1 below FedAvg (p .02); both were written once, by name order."""
    found = [
        ("ditto", "minus:favor", (-0.2, -0.3, -0.1, 0.03)),
        ("favor", "minus:fedavg", (-0.1, -0.15, -0.05, 0.02)),
        ("ditto", "minus:fedavg", (-0.3, -0.4, -0.2, 0.0001)),
    ]
    rows = [
        (0, method, encoder, "profile_auc", f"{prefix}{name}{end}", value, 12, "")
        for method, name, values in found
        for end, value in zip(("", "_low", "_high", "_p"), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=["seed", "method", "encoder", "metric", "variant", "value", "n", "note"])


def compared(method, scores, variant="common") -> Derived:
    return difference("profile_auc", "favor", "style", variant)(Row((method,), method), scores, {"style": "asce_a"})


def test_the_sign_is_the_rows_and_p_is_holms_over_the_two_tests_against_the_rival() -> None:
    # Holm: .02 x 2 = .04, then max(.04, .03) = .04; the test of Ditto against FedAvg is not of the column.
    assert compared("ditto", frame()).text == "−0.200 [−0.300, −0.100], p = .040"
    assert compared("fedavg", frame()).text == "0.100 [0.050, 0.150], p = .040"


def test_rows_that_are_equal_by_every_resampling_have_neither_interval_nor_p() -> None:
    equal = frame().assign(value=lambda rows: rows["value"].where(rows["variant"].str.endswith("_p"), 0.0))
    found = compared("ditto", equal)
    assert (found.text, found.value, found.reason) == ("0.000", 0.0, SAME)


@pytest.mark.parametrize(
    ("method", "scores", "variant", "reason"),
    [
        ("favor", frame(), "common", "the method that the others are compared with"),
        ("base_only", frame(), "common", "Profile AUC was not compared"),
        ("ditto", frame(), "", "Profile AUC was not compared"),
        ("ditto", frame(encoder="minilm"), "common", "Profile AUC was not compared"),
        ("ditto", frame().assign(note="no outputs in both rows"), "common", "no outputs in both rows"),
    ],
)
def test_what_was_not_compared_is_a_dash_with_its_reason(method, scores, variant, reason) -> None:
    found = compared(method, scores, variant)
    assert (found.text, found.reason) == ("–", reason)


@pytest.mark.parametrize(("panel", "prefix"), [("AUC minus FAVoR", ""), ("AUC minus FAVoR, common prompts", "common_")])
def test_the_table_of_author_profiles_prints_them(panel, prefix) -> None:
    columns = next(each.columns for each in AUTHOR_PROFILES.panels if each.title == panel)
    found = columns[1].derive(Row(("ditto",), "ditto"), frame(prefix=prefix), {"style": "asce_a"})
    assert found.value == pytest.approx(-0.2)


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    made = [
        rows(lambda *key: own_voice(*key) if key[1] else -0.2 - 0.1 * (key[0] == CLIENTS[0]), "favor"),
        rows(lambda *key: own_voice(*key) * (0.5 + 0.1 * CLIENTS.index(key[0])), "ditto"),
        rows(lambda *key: 0.2, "fedavg"),
    ]
    return likelihood_scores(pd.concat(made), CLIENTS, ["favor", "ditto", "fedavg"], {}, 7, 500)


def known(readings, method, panel, header) -> str:
    columns = {each.title: {column.label: column for column in each.columns} for each in LIKELIHOOD_ATTRIBUTION.panels}
    return columns[panel][header].derive(Row((method,), method), readings, {}).text


def test_what_adapters_know(readings) -> None:
    assert known(readings, "favor", "Gain over the base", "Own gain") == "0.500"  # of every author
    assert known(readings, "favor", "Gain over the base", "Neutral sentences").endswith("] ▼")
    assert known(readings, "fedavg", "Attribution", "Top-1") == "0.250 (chance)"
    assert known(readings, "fedavg", "Gain over the base", "Voice gain") == "0.000 (chance)"
    assert known(readings, "favor", "Minus FAVoR", "Voice gain") == "–"


def test_a_difference_has_the_sign_of_its_row_and_holms_p_over_the_column(readings) -> None:
    own = readings[(readings["metric"] == "likelihood_voice_gain") & (readings["method"] == "favor")]
    p = [float(own.loc[own["variant"] == f"minus:{rival}_p", "value"].iloc[0]) for rival in ("ditto", "fedavg")]
    text = known(readings, "fedavg", "Minus FAVoR", "Voice gain")
    assert text.startswith("−0.400, p ")  # the same for every author, of which there is no interval
    assert text.endswith(f"= {holm(p)[1]:.3f}".replace("0.", ".", 1))
