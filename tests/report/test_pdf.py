"""The PDF report: it compiles whatever users write, its bytes repeat, and LaTeX's own error reaches the user."""

from __future__ import annotations

import dataclasses
import re
import shutil
import struct
import subprocess

import pytest

from favor.foundation.errors import UserError
from favor.foundation.files import PARTIAL
from favor.report import pdf
from favor.report.pdf import compile_latex, latex_source, write_pdf_report
from favor.report.text_font import write_text_font
from favor.running.jobs.environment import latex_available

needs_latex = pytest.mark.skipif(not latex_available(), reason="pdflatex is not installed")


def printed(folder, report, tool, *options) -> str:
    """What a tool of poppler-utils prints of the report."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    write_pdf_report(folder / "report.pdf", report)
    command = [tool, *options, folder / "report.pdf", *(["-"] if tool == "pdftotext" else [])]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_latex
def test_report_repeats_byte_for_byte(tmp_path, report) -> None:
    write_pdf_report(tmp_path / "one.pdf", report)
    write_pdf_report(tmp_path / "two.pdf", report)
    content = (tmp_path / "one.pdf").read_bytes()
    assert content == (tmp_path / "two.pdf").read_bytes()
    assert str(tmp_path).encode() not in content
    assert list(tmp_path.glob(f".*{PARTIAL}")) == []


@needs_latex
def test_text_and_figures_have_one_font(tmp_path, report) -> None:
    lines = printed(tmp_path, report, "pdffonts").splitlines()[2:]
    fonts = {line.split()[0].partition("+")[2] for line in lines}
    # Otherwise only what formulas and code are set in.
    assert {name for name in fonts if not re.match(r"(CMSY|CMMI|CMR|CMTT|CMEX|MSAM|MSBM)\d", name)} <= {
        "DejaVuSans",
        "DejaVuSans-Bold",
        "DejaVuSans-Oblique",
        "DejaVuSans-BoldOblique",
    }
    assert "DejaVuSans" in fonts
    assert not any("Type 3" in line for line in lines)  # bitmaps


@needs_latex
def test_the_document_says_what_it_is(tmp_path, report) -> None:
    lines = printed(tmp_path, report, "pdfinfo").splitlines()
    found = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    assert found["Title"] == "FAVoR Workflow"
    assert found["Author"] == "FAVoR Workflow"
    assert found["Subject"] == "Federated personalised text generation, measured"


def test_metrics_hold_the_widths_of_the_font(tmp_path) -> None:
    """Read back as TFtoPL does; DejaVu Sans has 2048 units per em (its own hmtx table)."""
    write_text_font(tmp_path)
    content = (tmp_path / "favor-regular.tfm").read_bytes()
    words, header, first, last, widths = struct.unpack(">5H", content[:10])
    assert (4 * words, first, last) == (len(content), 0, 255)
    table = 24 + 4 * header + 4 * 256
    for character, units in (("o", 1253), ("A", 1401), ("M", 1767), ("i", 569)):
        index = content[24 + 4 * header + 4 * ord(character)]
        assert 0 < index < widths
        (width,) = struct.unpack(">i", content[table + 4 * index : table + 4 * index + 4])
        assert width / 2**20 == pytest.approx(units / 2048, abs=1e-6)
    assert content[24 + 4 * header + 4 * 23] == 0  # the compound word mark, which DejaVu Sans lacks


@needs_latex
def test_report_says_what_it_must(tmp_path, report) -> None:
    text = printed(tmp_path, report, "pdftotext", "-layout")
    words = " ".join(text.split())
    for expected in (
        "Main federated held-out continuation results",
        "Panel B: ASCE-independent external verification",
        "External-verifier breakdown",
        "Statistical testing",
        "FAVoR vs. Ditto",
        "[−0.050, 0.250]",
        "Pooled PEFT is not run" if "pooled" not in report.experiments[0].methods else "not computed",
        "These numbers are the demo",
        "List of Tables",
        "Numbers of the running text",
        "STAR was trained on the Blog Authorship Corpus",
        "make demo",
        "training.learning",
    ):
        assert expected in words, expected
    assert "secret-author" not in words


@pytest.mark.parametrize("demo", [True, False])
def test_the_demo_has_no_bold_finding_and_is_not_compared_with_the_paper(report, demo) -> None:
    first = dataclasses.replace(report.experiments[0], finding="FAVoR is first.", is_demo=demo)
    source = latex_source(dataclasses.replace(report, experiments=[first]))
    assert (r"\textbf{FAVoR is first.}" in source) != demo
    assert "FAVoR is first." in source
    assert ("Agreement with the paper" in source) != demo


def test_absent_latex_is_named(tmp_path, report, monkeypatch) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="pdflatex is not installed; install texlive-latex-recommended"):
        write_pdf_report(tmp_path / "report.pdf", report)


@needs_latex
def test_the_error_line_reaches_the_user(tmp_path) -> None:
    source = tmp_path / "bad.tex"
    source.write_text("\\documentclass{article}\n\\begin{document}\n\\nonsense\n\\end{document}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"bad\.tex: LaTeX failed: .*bad\.tex:3: Undefined control sequence"):
        compile_latex(source)


@needs_latex
def test_a_missing_figure_is_named(tmp_path, report) -> None:
    gone = dataclasses.replace(report.figures[0], pdf=tmp_path / "gone.pdf")
    with pytest.raises(UserError, match=r"gone\.pdf: file not found"):
        write_pdf_report(tmp_path / "report.pdf", dataclasses.replace(report, figures=[gone]))
