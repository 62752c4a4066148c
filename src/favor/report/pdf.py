"""The PDF: every table and figure of the report, as an author of a paper sets them, by pdfLaTeX.

The document inputs the tables' own LaTeX files and the figures' own PDF files; what is said of them stands in the HTML
page. It needs Debian's texlive-latex-recommended alone. Same content, same bytes: no dates, no identifiers, no paths.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.report.content import (
    DEMO_STATEMENT,
    QUESTION,
    ExperimentReport,
    Figure,
    Report,
    by_section,
    nothing_to_show,
    said,
    table_file,
)
from favor.running.jobs.environment import latex_available
from favor.tables.escape import latex as escape
from favor.tables.latex import PACKAGES

EPOCH = "1767225600"  # the time that pdfTeX knows: 2026-01-01 00:00:00 UTC
SECONDS = 300  # of a pass
PASSES = 3  # the list of tables, the pages that it takes, their numbers

HEAD = rf"""\documentclass[a4paper]{{article}}
\usepackage[margin=2cm]{{geometry}}
\usepackage{{{",".join(PACKAGES)}}}
\usepackage[hidelinks,pdfusetitle,pdflang=en]{{hyperref}}
\pdfinfoomitdate=1 \pdfsuppressptexinfo=-1 \pdftrailerid{{}}
\setcounter{{topnumber}}{{9}}\setcounter{{totalnumber}}{{9}}
\renewcommand{{\topfraction}}{{1}}\renewcommand{{\textfraction}}{{0}}\renewcommand{{\floatpagefraction}}{{.7}}
\makeatletter\setlength{{\@fptop}}{{0pt}}\makeatother\raggedbottom
\extrafloats{{500}}\maxdeadcycles=2000
\setlength{{\parindent}}{{0pt}}\setlength{{\parskip}}{{4pt}}
"""


def latex_source(report: Report, folder: Path = Path(), card: bool = False) -> tuple[str, dict[str, Path]]:
    """Return the document, and the files that it inputs by its names for them. ``folder``: the report's.

    ``card``: the first screen alone, a page per experiment.
    """
    files: dict[str, Path] = {}
    if card:
        pages = ["\\clearpage\n".join("\n".join(_card(each, files)) for each in report.experiments)]
        return "\n".join([HEAD, r"\pagestyle{empty}\begin{document}", *pages, r"\end{document}", ""]), files
    parts = [HEAD, rf"\title{{{escape(report.title)}: tables and figures}}\author{{}}\date{{}}"]
    parts.append(r"\begin{document}\maketitle")
    for number, experiment in enumerate(report.experiments):
        parts += _card(experiment, files)
        if number == 0:
            parts.append(r"\clearpage Every table and figure of \texttt{report.html}, which explains them.")
            parts.append(r"\listoftables\listoffigures")
        parts += _experiment(experiment, folder, files)
    if report.figures:
        parts.append(r"\clearpage\section*{How it works}")
    parts += [_figure(figure, files) for figure in report.figures]
    return "\n".join([*parts, r"\end{document}", ""]), files


def _card(experiment: ExperimentReport, files: dict[str, Path]) -> list[str]:
    """The first screen without the texts that it quotes: what came out, and the figure of it."""
    first = (
        QUESTION if experiment.findings else "",
        DEMO_STATEMENT if experiment.is_demo else "",
        *experiment.cautions,
    )
    parts = [rf"\section{{{escape(experiment.title)}}}", *(escape(text) + r"\par" for text in first if text)]
    if experiment.findings:
        parts += [r"\begin{enumerate}", *(rf"\item {escape(text)}" for text in experiment.findings), r"\end{enumerate}"]
    return parts + [_figure(figure, files) for figure in experiment.figures[:1]]


def _experiment(experiment: ExperimentReport, folder: Path, files: dict[str, Path]) -> list[str]:
    parts = [_figure(figure, files) for figure in experiment.figures[1:]]
    for section, tables in by_section(experiment.tables):
        # LaTeX holds back a limited number of floats.
        parts.append(rf"\clearpage\subsection{{{escape(section)}}}")
        for table in tables:
            if missing := nothing_to_show(table):
                parts.append(rf"\textbf{{{escape(table.spec.title)}.}} {escape(missing)}\par")
            else:
                file = folder / table_file(experiment, table, "tex")
                parts.append(rf"\input{{{_named(files, file, 'table', '.tex')}}}")
    return parts


def _figure(figure: Figure, files: dict[str, Path]) -> str:
    finding, alone = said(figure)
    if alone:
        return rf"\textbf{{{escape(figure.title)}.}} {escape(finding)}\par"
    name = _named(files, figure.pdf, "figure", ".pdf")
    caption = escape(" ".join((f"{figure.title}.", finding, figure.caption)))
    return "\n".join(
        [
            r"\begin{figure}[htbp]\centering",
            rf"\includegraphics[width=\linewidth,height=.4\textheight,keepaspectratio]{{{name}}}",
            rf"\caption[{{{escape(figure.title)}}}]{{{caption}}}",
            r"\end{figure}",
        ]
    )


def _named(files: dict[str, Path], file: Path, kind: str, suffix: str) -> str:
    name = f"{kind}-{len(files)}{suffix}"
    files[name] = file
    return name


def write_pdf_report(path: str | Path, report: Report, card: bool = False) -> None:
    """Write the PDF of ``report``, or of its ``card``, to ``path``, in the folder that the tables' files are below.

    Raises ``UserError`` where LaTeX is absent or fails (with its own error line), or where a file is missing.
    """
    if not latex_available():
        raise UserError("pdflatex is not installed; install texlive-latex-recommended, or leave out report.pdf")
    source, files = latex_source(report, Path(path).parent, card)
    with tempfile.TemporaryDirectory(prefix="favor-report-") as name:
        folder = Path(name)
        (folder / "report.tex").write_text(source, encoding="utf-8")
        for own, file in files.items():
            try:
                shutil.copyfile(file, folder / own)
            except FileNotFoundError:
                raise UserError(f"{file}: file not found; run the workflow so that it is made") from None
        compile_latex(folder / "report.tex")
        with atomic_path(path) as temporary:
            shutil.copyfile(folder / "report.pdf", temporary)


def compile_latex(source: Path) -> Path:
    """Run pdfLaTeX on ``source`` in its own folder and return the PDF. Raises ``UserError`` with LaTeX's error line."""
    command = ["pdflatex", "-recorder", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error", source.name]
    told: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": SECONDS}
    clock = {"SOURCE_DATE_EPOCH": EPOCH, "FORCE_SOURCE_DATE": "1", "TZ": "UTC", "max_print_line": "1000"}
    # shell escape stays off whatever the machine's TeX configuration says.
    environment = {**os.environ, **clock, "shell_escape": "f", "openin_any": "p", "openout_any": "p"}
    for _ in range(PASSES):
        try:
            result = subprocess.run(command, cwd=source.parent, env=environment, **told)
        except subprocess.TimeoutExpired:
            late = f"LaTeX did not end within {SECONDS} seconds; see the tables' .tex files"
            raise UserError(f"{source.name}: {late}") from None
        if result.returncode != 0:
            raise UserError(f"{source.name}: LaTeX failed: {_first_error(result.stdout)}")
    return source.with_suffix(".pdf")


def _first_error(output: str) -> str:
    match = re.search(r"^(?:\./)?[\w.-]+\.\w+:\d+: .*$|^! .*$", output, flags=re.MULTILINE)
    return match[0] if match else (output.strip().splitlines() or ["no output"])[-1]
