"""Tables whose cells are texts: the topic audit and the evaluators' agreement."""

import math

import pandas as pd
import pytest

from favor.scores.metric import ALL_SEEDS, SOURCE, Score, scores_frame
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.declarations.style_measures import _statistic
from favor.tables.derived import agreement
from favor.tables.specs import Context, Row

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
    found = agreement(verified, {}, "favor", "ditto")
    assert (found.supporting, found.compared) == (("minilm",), 2)
    assert found.reason == "no scores of both methods by StyleDistance"
    row = build_table(printed_spec("phase1-external-agreement"), verified, CONTEXT).set_index("column")
    assert row["text"].to_dict() == {"Support": "1/2", "Fraction": "0.5", "Supporting evaluators": "minilm"}
    assert row.loc["Fraction", "value"] == 0.5


def test_agreement_without_scores_is_a_dash(verified) -> None:
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
    values = {"margin": (0.5, ""), "margin_low": (math.nan, "too few"), "margin_high": (math.nan, "too few")}
    scores = scores_frame(
        [Score(ALL_SEEDS, SOURCE, "e", "agreement", name, value, 9, note) for name, (value, note) in values.items()]
    )
    found = _statistic("agreement", 2, interval=True)(Row(("Margin",), metric="margin", encoder="e"), scores, {})
    assert (found.text, found.value, found.reason) == ("0.50", 0.5, "no interval: too few")
