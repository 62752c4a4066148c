"""The PDF: it inputs every table and figure, its bytes repeat, and LaTeX's own error reaches the user."""

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.exports.conftest import refusal
from tests.optional import needs

from favor.foundation.errors import UserError
from favor.foundation.files import PARTIAL
from favor.report import pdf
from favor.report.content import Report, table_file
from favor.report.pdf import HEAD, compile_latex, latex_source, write_pdf_report
from favor.tables.latex import latex_table

needs_latex = needs("pdflatex")


@pytest.fixture
def made(tmp_path, report) -> Report:
    """The report, with the files of its tables where the PDF finds them."""
    for experiment in report.experiments:
        for table in experiment.tables:
            path = tmp_path / table_file(experiment, table, "tex")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(latex_table(table.spec, table.cells), encoding="utf-8")
    return report


@pytest.fixture
def found(made) -> Report:
    return dataclasses.replace(made, experiments=[dataclasses.replace(made.experiments[0], findings=["One finding."])])


def output(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs("pdflatex", "pdftotext", "pdfinfo")
def test_the_card_is_one_page(tmp_path, found) -> None:
    write_pdf_report(tmp_path / "report.card.pdf", found, card=True)
    text = output("pdftotext", tmp_path / "report.card.pdf", "-")
    pages = output("pdfinfo", tmp_path / "report.card.pdf")
    assert "One finding." in text
    assert "Figure 1:" in text
    assert "Table" not in text
    assert re.search(r"Pages:\s+1$", pages, flags=re.MULTILINE)


@needs("pdflatex", "pdftotext")
def test_every_table_and_figure_is_in_it_and_its_bytes_repeat(tmp_path, found) -> None:
    for name in ("report.pdf", "again.pdf"):
        write_pdf_report(tmp_path / name, found)
    content = (tmp_path / "report.pdf").read_bytes()
    assert content == (tmp_path / "again.pdf").read_bytes()
    assert str(tmp_path).encode() not in content
    assert list(tmp_path.glob(f".*{PARTIAL}")) == []
    text = " ".join(output("pdftotext", "-layout", tmp_path / "report.pdf", "-").split())
    assert set(re.findall(r"Table (\d+):", text)) == set("1234")
    assert set(re.findall(r"Figure (\d+):", text)) == {"1", "2"}  # the experiment's, and how it works
    panel = "Panel B: ASCE-independent external verification"
    for expected in ("List of Tables", panel, "FAVoR vs. Ditto", "[−0.050, 0.250]", "This is the demo"):
        assert expected in text, expected
    assert "secret-author" not in text
    # The first page is the card: what was asked and found, and its figure, before any list.
    first = output("pdftotext", "-layout", "-l", "1", tmp_path / "report.pdf", "-")
    assert "1. One finding." in first
    assert "Figure 1:" in first
    assert "List of" not in first


@needs_latex
def test_nothing_is_wider_than_the_page(tmp_path, made) -> None:
    source, files = latex_source(made, tmp_path)
    for name, file in files.items():
        shutil.copyfile(file, tmp_path / name)
    (tmp_path / "own.tex").write_text(source, encoding="utf-8")
    compile_latex(tmp_path / "own.tex")
    log = (tmp_path / "own.log").read_text(errors="replace")
    widths = re.findall(r"Overfull \\hbox \((\S+)pt too wide\) in paragraph", log)
    assert [width for width in widths if float(width) > 3] == []


@needs("pdflatex", "dpkg")
def test_only_recommended_packages_and_no_bitmap_fonts(tmp_path, report) -> None:
    bare = dataclasses.replace(report.experiments[0], figures=(), tables=())
    source, _ = latex_source(dataclasses.replace(report, figures=(), experiments=[bare]))
    (tmp_path / "report.tex").write_text(source, encoding="utf-8")
    compile_latex(tmp_path / "report.tex")
    assert not re.search(r"\d+pk>", (tmp_path / "report.log").read_text(errors="replace"))
    record = (tmp_path / "report.fls").read_text()
    inputs = set(re.findall(r"^INPUT (/usr/share/\S+\.(?:sty|cls|pfb|tfm|def))$", record, re.M))
    assert inputs
    owners = subprocess.run(["dpkg", "-S", *sorted(inputs)], capture_output=True, text=True, check=False).stdout
    found = {line.partition(":")[0] for line in owners.splitlines()}
    assert found <= {"texlive-base", "texlive-binaries", "texlive-latex-base", "texlive-latex-recommended"}


def test_a_sweep_has_a_folder_of_its_own(report) -> None:
    (experiment,) = report.experiments
    sweep = dataclasses.replace(experiment, kind="Sweep", name="clients", figures=(), tables=experiment.tables[1:2])
    _, files = latex_source(dataclasses.replace(report, experiments=[sweep], figures=()))
    assert files == {"table-0.tex": Path("sweeps/clients/tables/main_federated_results.tex")}


@needs_latex
def test_paths_may_begin_where_the_workflow_runs(tmp_path, made, monkeypatch) -> None:
    """Snakemake names files from its working folder: results/report.pdf, results/figures/pipeline.pdf."""
    (figure,) = made.figures
    shutil.copyfile(figure.pdf, tmp_path / "workflow.pdf")
    monkeypatch.chdir(tmp_path.parent)
    own = Path(tmp_path.name)
    relative = dataclasses.replace(made, figures=[dataclasses.replace(figure, pdf=own / "workflow.pdf")])
    write_pdf_report(own / "report.pdf", relative)
    assert (tmp_path / "report.pdf").is_file()


def test_absent_latex_is_named(tmp_path, report, monkeypatch) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    said = refusal(write_pdf_report, tmp_path / "report.pdf", report)
    assert "pdflatex is not installed; install texlive-latex-recommended" in said


@needs_latex
def test_the_error_line_reaches_the_user(tmp_path) -> None:
    source = tmp_path / "bad.tex"
    source.write_text("\\documentclass{article}\n\\begin{document}\n\\nonsense\n\\end{document}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"bad\.tex: LaTeX failed: .*bad\.tex:3: Undefined control sequence"):
        compile_latex(source)


@needs_latex
def test_a_section_may_have_many_tables(tmp_path) -> None:
    """LaTeX itself holds back 52 at most, and gives up after 100 attempts to place them."""
    table = r"\begin{table}[htbp]\rule{1cm}{.12\textheight}\caption{A table}\end{table}"
    source = tmp_path / "many.tex"
    source.write_text("\n\n".join([HEAD, r"\begin{document}", *[table] * 150, r"\end{document}"]), encoding="utf-8")
    assert compile_latex(source).is_file()


@needs_latex
def test_a_missing_file_is_named(tmp_path, made) -> None:
    gone = dataclasses.replace(made.figures[0], pdf=tmp_path / "gone.pdf")
    lacking = dataclasses.replace(made, figures=[gone])
    assert "gone.pdf: file not found" in refusal(write_pdf_report, tmp_path / "report.pdf", lacking)
