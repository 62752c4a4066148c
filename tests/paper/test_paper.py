"""The shipped values of the paper: against hand-typed numbers, and against the paper's source where it is at hand."""

import math
import os
import re
from pathlib import Path

import pytest
from tools.paper_source import STUB_COLUMNS, plain, read_paper_table, to_csv

from favor.foundation.errors import UserError
from favor.paper.values import FOLDER, load_paper_values, paper_cell, paper_cells

PANEL_B = "Panel B: ASCE-independent external verification"
# Read off the printed paper by eye, so that they check the parser too.
TYPED = [
    ("main_federated_results", "", "BlogText", "FAVoR", "EER", 0.245, None),
    ("main_federated_results", "", "Mythos-Reddit", "FedDPA†", "SemSim", 0.488, None),
    ("phase1-main-external-verification", "", "", "Local-only + ASCE", "MiniLM AUC", 0.685, None),
    ("phase1-main-results", "", "", "Ditto + ASCE", "Author Acc.", 0.318, None),
    ("asce-leakage-free-gensource", "", "", "Pooled PEFT", "Gen→Src EER", 0.363, 0.016),
    ("asce-leakage-free-pairwise", "", "", "FAVoR w/o ASCE", "Silhouette", -0.036, 0.008),
    ("asce-b-audit", "", "", "FedDPA", "Source-prototype Acc.", 0.242, 0.034),
    ("signature-space-main", "", "", "ASCE", "AUC", 0.863, None),
    ("signature-space-native", "", "", "StyleDistance", "Author-in-topic ω²", 0.2357, None),
    ("phase1-ablation-full-meanstd", PANEL_B, "", "FAVoR", "MiniLM EER", 0.378, 0.006),
    ("phase1-external-evaluator-details", "", "", "FedDPA† · Stylometry", "Gen→Gen AUC", 0.652, 0.007),
    ("phase1-paired-significance", "", "", "FAVoR vs. FedDPA · Asst. score", "Directional Δ", 0.159, None),
    ("k100-scale-stress", "", "", "FedAvg shared", "Silhouette", -0.176, 0.010),
    ("feddpa-gate-sensitivity", "", "", "BERTScore", "Dynamic - summary", -0.0013, None),
]


@pytest.mark.parametrize(("label", "panel", "section", "row", "column", "value", "deviation"), TYPED)
def test_typed_values(label, panel, section, row, column, value, deviation) -> None:
    found = paper_cell(load_paper_values(label), panel, section, row, column)
    assert found[0] == value
    assert (found[1] == deviation) if deviation is not None else math.isnan(found[1])


def test_marks_of_the_main_table_and_a_table_that_the_paper_does_not_have() -> None:
    values = load_paper_values("main_federated_results").set_index(["section", "row", "column"])
    assert values.loc[("BlogText", "FedAvg", "BERTScore"), "mark"] == "best"
    assert values.loc[("BlogText", "Ditto", "EER"), "mark"] == "second"
    assert load_paper_values("my-own-table").empty
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(STUB_COLUMNS)


@pytest.fixture
def paper_source() -> Path:
    """The paper's LaTeX source, named by FAVOR_PAPER; tests that want it skip without it."""
    source = Path(os.environ.get("FAVOR_PAPER", "favor.tex"))
    if not source.is_file():
        pytest.skip("without the paper's LaTeX source (FAVOR_PAPER)")
    return source


@pytest.mark.parametrize("label", sorted(STUB_COLUMNS))
def test_shipped_values_are_the_papers(label, paper_source) -> None:
    shipped = Path(__file__).parents[2] / "src/favor/paper/paper_values" / f"{label}.csv"
    assert to_csv(read_paper_table(paper_source, label)) == shipped.read_text(encoding="utf-8")


def test_every_table_of_the_paper_is_shipped(paper_source) -> None:
    labels = re.findall(r"\\label\{tab:([^}]+)\}", paper_source.read_text(encoding="utf-8"))
    assert sorted(labels) == sorted([*STUB_COLUMNS, "qualitative-appendix"])  # that one quotes texts


def _figures(text) -> list[str]:
    """Every number of a text as it is printed, sorted; a superscript is a number of its own."""
    lowered = text.translate(str.maketrans("⁰¹³⁴⁵⁶⁷⁸⁹⁻", "013456789-")).replace("--", " ")
    return sorted(re.findall(r"[+-]?\d+(?:\.\d+)?", re.sub(r"(?<=\d)(?:\{,\}|,)(?=\d{3})", "", lowered)))


@pytest.mark.parametrize("label", sorted(STUB_COLUMNS))
def test_every_number_of_a_row_is_shipped_and_no_other(label, paper_source) -> None:
    """A second reading that shares nothing with the parser: the numbers and marks of every row of the source."""
    text = re.sub(r"(?<!\\)%.*", "", paper_source.read_text(encoding="utf-8"))
    end = text.index(rf"\label{{tab:{label}}}")
    table = text[text.rindex(r"\begin{table", 0, end) : end]
    bodies = [body.split(r"\midrule", 1)[1] for body in re.findall(r"\\toprule(.*?)\\bottomrule", table, re.DOTALL)]
    rows = [row for body in bodies for row in body.split(r"\\") if "&" in row]
    shipped = list(load_paper_values(label).groupby(["panel", "section", "row"], sort=False))
    assert len(rows) == len(shipped)
    for source, ((_, _, name), cells) in zip(rows, shipped, strict=True):
        assert _figures(source) == _figures(" ".join([name, *cells["text"]])), name
        marks = cells["mark"].tolist()
        assert (source.count(r"\textbf"), source.count(r"\underline")) == (marks.count("best"), marks.count("second"))
        # and what is printed as text is what is kept as number
        for cell in cells[cells["value"].notna()].to_dict("records"):
            kept = [cell["value"]] + ([cell["deviation"]] if not math.isnan(cell["deviation"]) else [])
            assert [float(number) for number in cell["text"].replace("±", " ").split()] == kept


def test_a_table_parses_by_hand(tmp_path) -> None:
    source = tmp_path / "paper.tex"
    source.write_text(
        "\\begin{table}\n\\toprule\nVariant & \\makecell{Author\\\\Acc. $\\uparrow$} & \\makecell{Macro-\\\\F1} "
        "& BERTScore & X \\\\\n\\midrule\n"
        "A\\textsuperscript{\\dag} & \\textbf{0.342 $\\pm$ 0.023} & \\meanstd{\\underline{-0.1}}{0.02} & -- & 1 \\\\\n"
        "\\bottomrule\n\\label{tab:phase1-main-results}\n",
        encoding="utf-8",
    )
    cells = paper_cells(read_paper_table(source, "phase1-main-results"))
    names = ["row", "column", "value", "deviation", "mark"]
    assert cells[names][:2].to_numpy().tolist() == [
        ["A†", "Author Acc.", 0.342, 0.023, "best"],
        ["A†", "Macro-F1", -0.1, 0.02, "second"],
    ]
    assert cells[["column", "mark", "text"]][2:].to_numpy().tolist() == [["BERTScore", "", "–"], ["X", "", "1"]]
    with pytest.raises(UserError, match="no table labelled 'tab:asce-b-audit'"):
        read_paper_table(source, "asce-b-audit")


def test_plain_text() -> None:
    assert plain(r"\makecell{Gen$\rightarrow$Src\\AUC $\uparrow$}") == "Gen→Src AUC"
    assert plain(r"$<.001$") == "<.001"
    assert plain(r"$+0.086$ $[-0.081,\ 0.244]$") == "+0.086 [-0.081, 0.244]"
