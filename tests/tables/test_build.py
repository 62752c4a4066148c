"""Table cells from hand-made scores: means, deviations, marks, ties, directions, reasons, controls."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from tests.reports import make_score

from favor.analysis.schemas import COMPARISONS
from favor.paper.names import CONTROLS
from favor.paper.values import load_paper_values
from favor.scores.metric import Score, scores_frame
from favor.tables.build import build_table, is_control
from favor.tables.cells import SAME
from favor.tables.completion import printed_spec
from favor.tables.html import html_table
from favor.tables.latex import latex_table
from favor.tables.specs import Column, Context, Panel, Row, TableSpec, method_rows

WIDE = "the interval, [-6.28, 1.26], is too wide to say anything"
ACCURACY = Column("Author\nAcc.", "author_accuracy", "style", direction="up", deviation="inline")
ERROR = Column("EER", "generated_eer", "style", direction="down")


THREE = method_rows("fedavg", "ditto", "favor")


def table(*columns, rows=THREE, **others) -> TableSpec:
    return TableSpec("own", "Own", "Own caption.", rows, (Panel(columns),), ("prototypes",), **others)


def context(*methods, **others) -> Context:
    return Context("trial", methods, encoders={"style": "asce_a"}, marks="paper", **others)


def cell(cells, row, column) -> pd.Series:
    found = cells[(cells["row"] == row) & (cells["column"] == column)]
    assert len(found) == 1
    return found.iloc[0]


def scored(levels, metric="author_accuracy") -> pd.DataFrame:
    return pd.DataFrame([make_score(method, metric, value, "asce_a") for method, value in levels.items()])


@pytest.mark.parametrize(
    ("values", "deviation", "text", "reason"),
    [
        # mean (0.1 + 0.2 + 0.6) / 3 = 0.3; squared differences 0.04 + 0.01 + 0.09 = 0.14; sqrt(0.14 / 2) = 0.26458
        ((0.1, 0.2, 0.6), 0.2645751311, "0.300 ± 0.265", ""),
        # Of two seeds it is kept, and not printed: it would look like a certainty.
        ((0.1, 0.2), 0.05 * 2**0.5, "0.150", ""),
        ((0.25,), math.nan, "0.250", ""),
        ((-0.0001,), math.nan, "0.000", ""),
        ((0.4, math.nan), math.nan, "0.400", "mean over 1 of 2 seeds"),
    ],
)
def test_mean_and_sample_deviation_over_seeds(values, deviation, text, reason) -> None:
    notes = ["nothing generated" if math.isnan(value) else "" for value in values]
    scores = []
    for seed, (value, note) in enumerate(zip(values, notes, strict=True), start=1):
        scores += [make_score(name, "author_accuracy", value, "asce_a", seed, note) for name in ("favor", "gold")]
    scores.append(make_score("favor", "author_accuracy", 0.9, "asce_a", variant="released"))  # variants do not mix
    about = context("favor", seeds=range(1, len(values) + 1))
    cells = build_table(table(ACCURACY), pd.DataFrame(scores), about)
    known = [value for value in values if not math.isnan(value)]
    for row in ("FAVoR", CONTROLS["gold"]):
        found = cell(cells, row, "Author Acc.")
        assert (found["value"], found["deviation"]) == pytest.approx((sum(known) / len(known), deviation), nan_ok=True)
        assert (found["n"], found["text"], found["reason"]) == (len(known), text, reason)


@pytest.mark.parametrize(
    ("column", "values", "marks"),
    [
        (ACCURACY, (0.1, 0.2, 0.3), ["", "second", "best"]),
        (ERROR, (0.1, 0.2, 0.3), ["best", "second", ""]),
        # 0.8246 and 0.8254 both print 0.825: both best. 0.8239 prints 0.824: second.
        (ACCURACY, (0.8239, 0.8246, 0.8254), ["second", "best", "best"]),
        (ACCURACY, (0.5, 0.5), ["", ""]),
        (ACCURACY, (0.5,), [""]),
    ],
)
def test_marks_follow_the_direction_and_what_is_printed(column, values, marks) -> None:
    levels = dict(zip(("fedavg", "ditto", "favor"), values, strict=False))
    cells = build_table(table(column, with_controls=False), scored(levels, column.metric), context(*levels))
    assert cells["mark"].tolist() == marks


def test_controls_and_unranked_rows_take_no_mark() -> None:
    rows = (*method_rows("fedavg", "favor"), Row(("Local-only (ref.)",), method="local_only", ranked=False))
    levels = {"gold": 0.9, "local_only": 0.8, "favor": 0.5, "fedavg": 0.4, "shuffled": 0.02}
    scores = scored(levels)
    cells = build_table(table(ACCURACY, rows=rows), scores, context("fedavg", "favor", "local_only"))
    controls = ["Reference: own continuations", "Reference: shuffled authors"]
    assert cells["row"].tolist() == ["FedAvg", "FAVoR", "Local-only (ref.)", *controls]
    assert cells["mark"].tolist() == ["second", "best", "", "", ""]
    assert cell(cells, controls[0], "Author Acc.")["value"] == 0.9


def test_a_row_of_the_paper_prints_the_name_that_the_configuration_gives_it() -> None:
    scores = scored({"favor": 0.5, "ditto": 0.5})
    renamed = context("favor", "ditto", display={"ditto": "FAVoR (ditto)"})
    cells = build_table(table(ACCURACY, with_controls=False), scores, renamed, load_paper_values("phase1-main-results"))
    assert cells["row"].tolist() == ["FAVoR (ditto)", "FAVoR"]
    pairs = build_table(printed_spec("phase1-paired-significance"), scores, renamed, comparisons=COMPARISONS.empty())
    assert "FAVoR vs. FAVoR (ditto)" in {row.split(" · ")[0] for row in pairs["row"]}


def test_two_rows_of_one_name_keep_their_own_numbers_and_marks() -> None:
    levels = {"favor": 0.9, "again": 0.1, "fedavg": 0.5}
    rows = tuple(Row((name,), method=method) for name, method in zip(("FAVoR", "FAVoR", "FedAvg"), levels, strict=True))
    spec = table(ACCURACY, rows=rows, with_controls=False)
    cells = build_table(spec, scored(levels), context(*levels))
    assert cells["text"].tolist() == ["0.900", "0.100", "0.500"]
    assert cells["mark"].tolist() == ["best", "", "second"]
    document = html_table(spec, cells)
    assert document.count("<tr>") == 4  # the head and three rows, each of its name and one cell
    assert document.count("<td ") == 3
    assert latex_table(spec, cells).count("FAVoR") == 2


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({}, ["FedAvg", "FAVoR", "Mine", "Alone"]),
        ({"open_rows": False}, ["FedAvg", "FAVoR"]),
        ({"collaborative": True}, ["FedAvg", "FAVoR", "Mine"]),
        ({"rows": method_rows("my_method", "fedavg", "favor")}, ["Mine", "FedAvg", "FAVoR", "Alone"]),
    ],
)
def test_rows_are_the_methods_that_run_in_the_papers_order_and_then_the_users(changes, rows) -> None:
    display = {"my_method": "Mine", "alone": "Alone"}
    others = context("my_method", "favor", "fedavg", "alone", display=display, references=("alone",))
    spec = table(ACCURACY, with_controls=False, **changes)
    assert build_table(spec, scored({"favor": 0.5}), others)["row"].tolist() == rows


def test_every_dash_has_a_reason() -> None:
    failed = make_score("favor", "author_accuracy", math.nan, "asce_a", note="no output passed the filter")
    scores = pd.DataFrame([failed, make_score("favor", "generated_eer", 0.2, "asce_a")])
    others = Column("StyleDist", "generated_source_auc", "styledistance"), Column("Silh.", "silhouette", "style")
    spec = table(ACCURACY, ERROR, *others, Column("MAUVE", "mauve"), with_controls=False)
    absences = {"mauve": "MAUVE needs gpt2-large"}
    cells = build_table(spec, scores, context("fedavg", "favor", absences=absences))
    assert {column: cell(cells, "FAVoR", column)["reason"] for column in cells["column"].unique()} == {
        "Author Acc.": "no output passed the filter",
        "EER": "",
        "StyleDist": "encoder StyleDistance is not part of experiment trial",
        "MAUVE": "MAUVE needs gpt2-large",
        "Silh.": "Silhouette was not computed in experiment trial",
    }
    assert cell(cells, "FedAvg", "EER")["reason"] == "EER has no score for FedAvg"
    dashes = cells[cells["text"] == "–"]
    assert dashes["value"].isna().all()
    assert (dashes["reason"] != "").all()


def test_the_papers_values_stand_beside_ours(scores, context) -> None:
    spec = printed_spec("main_federated_results")
    cells = build_table(spec, scores, context, load_paper_values(spec.label))
    # favor.tex L492: FAVoR 0.403, macro-F1 0.365
    assert cell(cells, "FAVoR", "Author Acc.")["paper_value"] == 0.403
    assert cell(cells, "FAVoR", "Macro-F1")["paper_value"] == 0.365
    about = (Context("own", ("favor",), "Stories", of, context.encoders) for of in ("Mythos-Reddit", ""))
    stories, nothing = (build_table(spec, scores, each, load_paper_values(spec.label)) for each in about)
    assert cell(stories, "FAVoR", "EER")["paper_value"] == 0.175
    assert nothing["paper_value"].isna().all()


def test_a_table_of_human_texts_reads_the_source_rows_and_asks_for_no_further_seeds() -> None:
    values = {"asce_a": 0.5, "minilm": 0.4}
    scores = pd.DataFrame(make_score("source", "probe_accuracy", values[name], name, 0) for name in values)
    about = context("favor", seeds=[1, 2], absences={"luar": "not here"})
    cells = build_table(printed_spec("signature-space-main"), scores, about)
    own = cell(cells, "ASCE", "Acc.")
    assert (own["text"], own["reason"], own["mark"]) == ("0.500", "", "best")
    assert cell(cells, "MiniLM", "Acc.")["text"] == "0.400"
    assert cell(cells, "LUAR", "Acc.")[["text", "reason"]].tolist() == ["–", "not here"]
    assert "Stylometry" not in set(cells["row"])
    # Another style encoder is not called ASCE, and has one row.
    about = Context("trial", ["favor"], encoders={"style": "minilm"}, encoder_titles={"minilm": "MiniLM"})
    cells = build_table(printed_spec("signature-space-main"), scores, about)
    assert cell(cells, "MiniLM", "Acc.")["text"] == "0.400"
    assert "ASCE" not in set(cells["row"])


def test_the_evaluator_table_bounds_every_evaluator_by_both_controls() -> None:
    made = ("favor", "gold", "shuffled")
    scores = pd.DataFrame([make_score(method, "generated_auc", 0.1, "minilm", variant="same_topic") for method in made])
    cells = build_table(printed_spec("phase1-external-evaluator-details"), scores, context("favor"))
    rows = cells[cells["column"] == "Gen→Gen AUC"]
    assert len(rows) == 3 * 3  # FAVoR and two controls in three spaces
    name = "Reference: shuffled authors · MiniLM"
    assert is_control(name)
    assert cell(cells, name, "Gen→Gen AUC")["text"] == "0.100"
    assert (rows["mark"] == "").all()


def test_a_table_of_configuration_needs_no_scores() -> None:
    settings = {
        "favor": {"private_residual": True, "proximal": True, "lambda_align": 0.3},
        "global_asce": {"private_residual": False, "proximal": False, "lambda_align": 0.3},
    }
    ran = context("global_asce", "favor", settings=settings)
    cells = build_table(printed_spec("phase1-ablation-run-audit"), scores_frame([]), ran)
    assert cell(cells, "FAVoR", "Shared prox.")["text"] == "✓"
    assert cell(cells, "Global ASCE", "Private residual")["text"] == "✗"
    assert cell(cells, "FAVoR", "λ align")["text"] == "0.3"
    assert cell(cells, "FAVoR", "Sampling")["reason"] == "does not apply to this method"
    assert set(cells["row"]) == {"Global ASCE", "FAVoR"}
    components = build_table(printed_spec("phase1-ablation-full-meanstd"), scored({"gold": 0.5}), ran)
    reason = cell(components, "Reference: own continuations", "ASCE align.")["reason"]
    assert reason == "a reference has no configuration"


@pytest.mark.parametrize(
    ("metric", "ends", "note", "text", "reason"),
    [
        ("kept_author_accuracy", (0.4, -0.06, 0.75), "", "0.40 [−0.06, 0.75]", ""),
        ("kept_author_accuracy", (math.nan, math.nan, math.nan), "not apart", "–", "not apart"),
        ("kept_author_accuracy", (0.4, -0.7, 1.26), "", "0.40 [−0.70, 1.26]", ""),
        ("kept_author_accuracy", (0.4, -6.28, 1.26), "", "–", WIDE),
        ("copy5_rate", (0.25, math.nan, math.nan), "one author", "0.250", "no interval: one author"),
        # The limits are the value; they are so after rounding only; on one side only.
        ("common_auc", (-0.25, -0.25, -0.25), "", "−0.250", SAME),
        ("common_auc", (0.0, -0.0001, 0.0001), "", "0.000 [0.000, 0.000]", ""),
        ("common_auc", (0.0, 0.0, 0.2), "", "0.000 [0.000, 0.200]", ""),
    ],
)
def test_an_interval_stands_behind_a_score_of_all_seeds_together(metric, ends, note, text, reason) -> None:
    column = Column("Kept", metric, "style", decimals=2 if metric.startswith("kept") else 3, interval=True)
    scores = scores_frame(
        Score(0, "favor", "asce_a", metric, variant, value, 96, note if math.isnan(value) else "")
        for variant, value in zip(("", "low", "high"), ends, strict=True)
    )
    found = cell(build_table(table(column), scores, context("favor", seeds=(1, 2))), "FAVoR", "Kept")
    assert (found["text"], found["reason"]) == (text, reason)
    assert found["value"] == pytest.approx(math.nan if text == "–" else ends[0], nan_ok=True)


def test_the_method_that_a_scale_begins_with_has_a_dash() -> None:
    scores = scores_frame(
        Score(0, method, "asce_a", "kept_author_margin", f"over_base{end}", value, 96)
        for method, value in {"base_only": 0.0, "favor": 0.5}.items()
        for end in ("", "_low", "_high")
    )
    cells = build_table(printed_spec("voice-kept"), scores, context("base_only", "favor"))
    cells = cells[cells["panel"] == "Over the base model"]
    base = cell(cells, "Base only", "Margin")
    assert (base["text"], base["reason"]) == ("–", "Base only is 0 here by definition")
    assert cell(cells, "FAVoR", "Margin")["text"] == "0.50"


def test_what_chance_gives_has_no_interval_and_no_number_of_outputs() -> None:
    scores = scores_frame([Score(1, "shuffled", "asce_a", "common_accuracy", "", 0.25, 0)])
    column = Column("Acc.", "common_accuracy", "style", interval=True)
    spec = replace(table(column, rows=method_rows("favor")), sources=("common_prompts",))
    found = cell(build_table(spec, scores, context("favor")), "Reference: shuffled authors", "Acc.")
    assert (found["text"], found["reason"]) == ("0.250", "")


def test_means_over_different_seeds_are_not_compared(score) -> None:
    """FAVoR has no value under seed 2: only seed 1 says what lies between the rows."""
    values = {("fedavg", 1): 0.3, ("fedavg", 2): 0.5, ("favor", 1): 0.4, ("ditto", 2): 0.2}
    scores = pd.DataFrame(score(row, "author_accuracy", value, "asce_a", seed) for (row, seed), value in values.items())
    minus = replace(ACCURACY, header="Minus", minus="favor", signed=True, deviation="none")
    beside = replace(ACCURACY, header="Beside", beside="favor", signed=True, deviation="none")
    cells = build_table(table(minus, beside), scores, context("fedavg", "ditto", "favor", seeds=(1, 2)))
    assert cell(cells, "FedAvg", "Minus")["text"] == "-0.100"
    assert cell(cells, "FedAvg", "Beside")["text"] == "0.300 / 0.400 (−0.100)"
    assert "mean over 1 of 2 seeds" in cell(cells, "FedAvg", "Minus")["reason"]
    assert cell(cells, "Ditto", "Minus")["reason"] == "no seed has a value of both"
