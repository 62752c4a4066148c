"""LaTeX of tables: what is printed, and that it compiles with the packages it names."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess

import pandas as pd
import pytest
from tests.optional import needs

from favor.paper.values import load_paper_values
from favor.report.pdf import compile_latex
from favor.tables.build import build_table
from favor.tables.labels import printed_spec
from favor.tables.latex import PACKAGES, latex_table
from favor.tables.specs import Column, Context, Panel, Row, TableSpec, available

needs_latex = needs("pdflatex", "pdftotext")


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
    assert r"(b): assistant\_score was not computed in experiment demo." in source
    assert "own continuations" not in source


def test_numbers_align_at_the_point() -> None:
    """A column of -3.25, 12.50 and 0.75 keeps room for a sign and for a digit where they lack."""
    spec = TableSpec(
        **{"label": "own", "section": "Main text", "title": "Own", "caption": "Own."},
        panels=(Panel((Column("Value", "author_accuracy", "style", decimals=2),)),),
        rows=tuple(Row((name,), method=name) for name in ("a", "b", "c")),
        stub_headers=("Row",),
        sources=("prototypes",),
    )
    (column,) = spec.panels[0].columns
    lines = [("a", -3.25), ("b", 12.5), ("c", 0.75)]
    empty = dict.fromkeys(("section", "mark", "marking", "reason", "paper_text"), "")
    missing = dict.fromkeys(("deviation", "paper_value", "paper_deviation"), float("nan"))
    cells = pd.DataFrame(
        [
            {"panel": "", "row": row, "column": column.label, "order": place, "value": value, "n": 1}
            | {"text": f"{value:.2f}", **empty, **missing}
            for place, (row, value) in enumerate(lines)
        ]
    )
    source = latex_table(spec, cells)
    assert r"a & \phantom{0}$-$3.25 \\" in source
    assert r"b & \phantom{$-$}12.50 \\" in source
    assert r"c & \phantom{$-$}\phantom{0}0.75 \\" in source


def test_panels_taller_than_a_page_go_on_in_a_further_environment(scores, context) -> None:
    spec = printed_spec("phase1-ablation-full-meanstd")
    cells = build_table(spec, scores, context)
    rows = [cells.assign(row=cells["row"] + f" {number}") for number in range(12)]
    source = latex_table(spec, pd.concat(rows))
    begin, end, caption = (r"\begin{table*}", r"\end{table*}", r"\caption")
    assert [source.count(part) for part in (begin, end, caption)] == [len(spec.panels), len(spec.panels), 1]
    assert source.index(caption) > source.rindex(begin)
    assert latex_table(spec, cells).count(begin) == 1


def test_daggers_and_sections(scores, context) -> None:
    spec = printed_spec("main_federated_results")
    source = latex_table(spec, build_table(spec, scores, context))
    assert r" & FedDPA$^{\dagger}$ & " in source
    assert re.search(r"^Demo blogs & FedAvg & ", source, flags=re.MULTILINE)
    assert r"{\raggedright\scriptsize $^{\dagger}$ FedDPA is trained" in source
    without = Context("demo", ("fedavg", "favor"), "Demo blogs", encoders=context.encoders)
    assert "dagger" not in latex_table(spec, build_table(spec, scores, without))


def test_wide_tables_span_two_columns_and_marks_are_the_users(scores, context) -> None:
    wide = latex_table(
        printed_spec("main_federated_results"), build_table(printed_spec("main_federated_results"), scores, context)
    )
    assert r"\begin{table*}[htbp]" in wide
    assert r"\providecommand{\favorbest}[1]{\textbf{#1}}" in wide
    assert r"\favorbest{0.400}" in wide
    narrow = printed_spec("phase1-main-results")
    assert r"\begin{table}[htbp]" in latex_table(narrow, build_table(narrow, scores, context))


@needs_latex
def test_every_table_compiles_with_hostile_text(tmp_path, scores, context, hostile) -> None:
    methods = [*context.methods, "own"]
    odd = Context(hostile, methods, hostile, "BlogText", context.encoders, {"own": hostile}, {"styledistance": hostile})
    bodies = []
    for label in available():
        spec = printed_spec(label)
        cells = build_table(spec, scores, odd, load_paper_values(label))
        bodies.append(latex_table(spec, cells))
    packages = "".join(rf"\usepackage{{{name}}}" for name in PACKAGES)
    source = tmp_path / "tables.tex"
    # Pages are cleared so that LaTeX's limit of waiting floats is not what is tested.
    body = "\n\\clearpage\n".join(bodies)
    source.write_text(
        rf"\documentclass{{article}}{packages}\begin{{document}}" + f"\n{body}\n\\end{{document}}\n", encoding="utf-8"
    )
    pdf = compile_latex(source)
    assert pdf.read_bytes().startswith(b"%PDF")
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
        packages = "".join(rf"\usepackage{{{name}}}" for name in PACKAGES)
        document = tmp_path / "table.tex"
        document.write_text(rf"\documentclass{{article}}{packages}\begin{{document}}{source}\end{{document}}")
        pdf = compile_latex(document)
        text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
        assert title in " ".join(text.split())


def test_a_users_own_table(scores, context) -> None:
    from favor.tables.specs import method_rows

    columns = (Column("A & B", "author_accuracy", "style", direction="up"),)
    spec = TableSpec("mine_100%", "Mine", "Mine & yours.", method_rows("favor"), (Panel(columns),), ("prototypes",))
    source = latex_table(spec, build_table(spec, scores, context))
    assert r"A \& B $\uparrow$" in source
    assert r"\caption[{Mine}]{Mine \& yours.}" in source
