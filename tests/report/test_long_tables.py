"""Tables of the PDF report: they fit the line, go on on the next page with their header, and print any text."""

from __future__ import annotations

import re
import shutil
import subprocess

import pandas as pd
import pytest

from favor.paper.values import load_paper_values
from favor.report.long_tables import captioned_table, plain_table, report_table
from favor.report.pdf import PREAMBLE, compile_latex
from favor.running.jobs.environment import latex_available
from favor.tables.build import build_table
from favor.tables.context import Context
from favor.tables.labels import printed_spec

# Wide, sectioned, of several panels, of comparisons, and with whole sentences in a cell.
HARD = (
    "main_federated_results",
    "phase1-ablation-full-meanstd",
    "phase1-external-paired-auc",
    "voice-kept",
    "prompting_retrieval_baselines",
)
needs_latex = pytest.mark.skipif(not latex_available(), reason="pdflatex is not installed")


def compiled(folder, body) -> str:
    """Return the text of a report with ``body`` and nothing else; its log lies in ``folder``."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    source = folder / "tables.tex"
    source.write_text(rf"{PREAMBLE}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
    made = compile_latex(source)
    return subprocess.run(["pdftotext", "-layout", made, "-"], capture_output=True, text=True, check=True).stdout


@needs_latex
def test_hard_tables_fit_the_line_with_hostile_text(tmp_path, scores, context, hostile) -> None:
    methods = [*context.methods, "own"]
    odd = Context(hostile, methods, hostile, "BlogText", context.encoders, {"own": hostile}, {"styledistance": hostile})
    specs = list(map(printed_spec, HARD))
    cells = [build_table(spec, scores, odd, load_paper_values(spec.label)) for spec in specs]
    body = "\n".join(
        report_table(spec, table, spec.label, hostile, paper=True) for spec, table in zip(specs, cells, strict=True)
    )
    text = " ".join(compiled(tmp_path, body).split())
    assert "100% \\input{x} $a" in text
    log = (tmp_path / "tables.log").read_text(errors="replace")
    assert [width for width in re.findall(r"Overfull \\hbox \((\S+)pt too wide\)", log) if float(width) > 3] == []
    numbered = len(re.findall(r"Table \d+:", text))
    assert numbered == len(specs)


@needs_latex
def test_a_table_taller_than_a_page_repeats_its_header_and_counts_once(tmp_path) -> None:
    tall = pd.DataFrame({"Key of many": [f"row {number}" for number in range(150)], "Value": 1})
    pages = compiled(tmp_path, captioned_table(tall, "A tall one. It goes on") + plain_table(tall.iloc[:2])).split("\f")
    assert [page.count("Key of many") for page in pages[:3]] == [1, 1, 2]  # the last page has the short one, too
    assert ["Table" in page for page in pages[:3]] == [True, False, False]
    assert all(f"row {number}" in "".join(pages) for number in range(150))
