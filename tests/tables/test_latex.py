"""LaTeX of tables: what is printed, and that it compiles with the packages it names."""

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from tests.optional import needs
from tests.reports import make_score

from favor.foundation.registry import TABLES
from favor.paper.values import load_paper_values
from favor.report.pdf import compile_latex
from favor.tables.build import build_table
from favor.tables.completion import printed_spec
from favor.tables.latex import latex_table
from favor.tables.specs import Column, Context, Panel, TableSpec, method_rows

needs_latex = needs("pdflatex", "pdftotext")


def two_columns(tables, folder) -> tuple[Path, list[str]]:
    """Set ``tables`` in an article of two columns; return the PDF, and what pdfLaTeX says is too wide or too tall."""
    sources = list(filter(None, tables))  # a table of every metric has none where nothing was scored
    (needed,) = {source.partition("\n")[0].partition(": needs ")[2] for source in sources}
    # Pages are cleared so that LaTeX's limit of waiting floats is not what is tested.
    body = "\n\\clearpage\n".join(sources)
    document = folder / "tables.tex"
    document.write_text(
        rf"\documentclass[twocolumn]{{article}}\usepackage{{{needed}}}\begin{{document}}"
        f"\n{body}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    pdf = compile_latex(document)
    log = document.with_suffix(".log").read_text(errors="replace")
    return pdf, re.findall(r"Float too large.*|Overfull \\hbox.*|Reference .* undefined.*", log)


def test_marks_deviations_and_notes(scores, context) -> None:
    spec = printed_spec("phase1-ablation-full-meanstd")
    context = dataclasses.replace(context, settings={"favor": {"alignment": True, "private_residual": True}})
    source = latex_table(spec, build_table(spec, scores, context))
    assert r"\favorbest{0.400}" in source
    assert r"\favorsecond{0.360}" in source
    assert r"\scriptsize $\pm$ 0.010" in source
    assert r"$\checkmark$" in source
    assert source.count(r"\begin{tabular}{@{}l") == 2
    assert "--\\textsuperscript{a}" in source
    assert "Best of the ranked rows in bold" in source
    assert r"(a): does not apply to this method." in source
    assert r"(b): Asst. score was not computed in experiment demo." in source
    assert r"\textit{own continuations} & " in source


def test_numbers_align_at_the_point() -> None:
    """A column of -3.25, 12.50 and 0.75 keeps room for a sign and for a digit where they lack."""
    values = {"a": -3.25, "b": 12.5, "c": 0.75}
    column = Column("Value", "author_accuracy", "style", decimals=2)
    spec = TableSpec("own", "Own", "Own.", method_rows(*values), (Panel((column,)),), ("prototypes",))
    scores = pd.DataFrame([make_score(name, "author_accuracy", value, "asce_a") for name, value in values.items()])
    about = Context("demo", tuple(values), encoders={"style": "asce_a"}, marks="paper")
    source = latex_table(spec, build_table(spec, scores, about))
    assert r"a & \phantom{0}$-$3.25 \\" in source
    assert r"b & \phantom{$-$}12.50 \\" in source
    assert r"c & \phantom{$-$}\phantom{0}0.75 \\" in source


def test_what_is_taller_than_a_page_goes_on_in_a_further_environment(scores, context) -> None:
    """The caption stands with the first, which the others name, and the notes stand with the last."""
    spec = printed_spec("phase1-ablation-full-meanstd")
    cells = build_table(spec, scores, context)
    rows = [cells.assign(row=cells["row"] + f" {number}") for number in range(40)]
    source = latex_table(spec, pd.concat(rows).sort_values("panel", kind="stable"))
    parts = source.split(r"\begin{table*}")[1:]
    assert len(parts) > 2 * len(spec.panels)  # a panel of hundreds of rows takes several pages
    assert [r"\caption" in part for part in parts] == [True] + [False] * (len(parts) - 1)
    assert [r"\ref{tab:phase1-ablation-full-meanstd}" in part for part in parts] == [False] + [True] * (len(parts) - 1)
    assert [r"\favornotes{" in part for part in parts] == [False] * (len(parts) - 1) + [True]
    body = [line for line in source.splitlines() if line.endswith(r" \\") and line[0] not in "{V"]
    assert len(body) == len(set(body)) == sum(part["row"].nunique() for _, part in pd.concat(rows).groupby("panel"))
    assert latex_table(spec, cells).count(r"\begin{table*}") == 1


def test_marks_of_significance_have_a_column_and_notes_a_switch(scores, context) -> None:
    spec = printed_spec("phase1-main-results")
    cells = build_table(spec, scores, context)
    first, second, *_ = cells["row"].unique()
    marked = cells["column"] == cells["column"].iloc[0]
    cells["marking"] = "paired evidence"
    cells["mark"] = ""
    cells.loc[marked & (cells["row"] == first), "mark"] = "below"
    cells.loc[marked & (cells["row"] == second), "mark"] = "ns"
    source = latex_table(spec, cells)
    assert r"\begin{table}[htbp]" in source  # one column of two holds it
    assert r"\begin{tabular}{@{}lc@{\,}lccc@{}}" in source
    assert rf"{first} & 0." in source
    assert re.search(r"^[^&]*& 0\.\d{3} & \\favorbelow & 0", source, flags=re.MULTILINE)
    assert re.search(r"^[^&]*& 0\.\d{3} & \\favorns & 0", source, flags=re.MULTILINE)
    assert source.count(r"\multicolumn{2}{c}{") == 1
    notes = source[source.index(r"\favornotes{%") : source.index(r"\caption")]
    assert r"$\ast$: significantly worse than the column's best" in notes
    assert r"\raggedright" not in source.replace(notes, "")


def test_a_reference_without_any_value_is_left_out(scores, context) -> None:
    spec = printed_spec("phase1-main-results")
    for known in (scores, scores[scores["method"] != "shuffled"]):
        source = latex_table(spec, build_table(spec, known, context))
        assert ("shuffled authors" in source) == (known is scores)


def test_a_wide_table_has_daggers_sections_and_the_users_marks(scores, context) -> None:
    spec = printed_spec("main_federated_results")
    source = latex_table(spec, build_table(spec, scores, context))
    assert r"\begin{table*}[htbp]" in source
    assert r"\providecommand{\favorbest}[1]{\textbf{#1}}" in source
    assert r"\favorbest{0.400}" in source
    assert r" & FedDPA$^{\dagger}$ & " in source
    assert re.search(r"^Demo blogs & FedAvg & ", source, flags=re.MULTILINE)
    assert r"{\raggedright\scriptsize $^{\dagger}$ FedDPA is trained" in source
    without = Context("demo", ("fedavg", "favor"), "Demo blogs", encoders=context.encoders)
    assert "dagger" not in latex_table(spec, build_table(spec, scores, without))


@needs_latex
def test_every_table_compiles_with_hostile_text(tmp_path, scores, context, hostile) -> None:
    methods = [*context.methods, "own"]
    odd = Context(hostile, methods, hostile, "BlogText", context.encoders, {"own": hostile}, {"styledistance": hostile})
    specs = [printed_spec(label) for label in TABLES.names()]
    bodies = [latex_table(spec, build_table(spec, scores, odd, load_paper_values(spec.label))) for spec in specs]
    pdf, faults = two_columns(bodies, tmp_path)
    assert faults == []
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    assert "100% \\input{x} $a" in " ".join(text.split())


@pytest.mark.parametrize("title", ["[2pt] mine", "*starred", "A $\\frac$ b (5$)"])
def test_a_name_is_text_wherever_a_line_begins(scores, context, tmp_path, title) -> None:
    odd = Context("trial", [*context.methods, "own"], "", "", context.encoders, {}, {"favor": title})
    spec = printed_spec("phase1-main-results")
    assert not spec.sectioned
    source = latex_table(spec, build_table(spec, scores, odd))
    assert not re.search(r"^[\[*]", source, flags=re.MULTILINE)
    if shutil.which("pdflatex") and shutil.which("pdftotext"):
        pdf, _ = two_columns([source], tmp_path)
        text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
        assert title in " ".join(text.split())


def test_a_users_own_table(scores, context) -> None:
    columns = (Column("A & B", "author_accuracy", "style", direction="up"),)
    spec = TableSpec("mine_100%", "Mine", "Mine & yours.", method_rows("favor"), (Panel(columns),), ("prototypes",))
    source = latex_table(spec, build_table(spec, scores, context))
    assert r"A \& B $\uparrow$" in source
    assert r"\caption[{Mine}]{Mine \& yours.}" in source
