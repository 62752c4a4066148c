"""The PDF report: LaTeX source from the same content as the HTML page, set by pdfLaTeX in a temporary folder.

Uses only Debian's texlive-latex-base and texlive-latex-recommended. Text has the font of the figures, which comes with
matplotlib. Same content, same bytes: no dates, no identifiers, no paths.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.paper.names import method_name
from favor.report.compare import agreement, agreement_rows
from favor.report.content import (
    ExperimentReport,
    Figure,
    Report,
    ReportTable,
    by_section,
    digest,
    flat_settings,
    nothing_to_show,
    statement,
    table_note,
)
from favor.report.long_tables import PREAMBLE as TABLES
from favor.report.long_tables import captioned_table, plain_table, report_table
from favor.report.number_rows import NUMBERS_CAPTION, NUMBERS_TITLE, number_rows
from favor.report.preparation import blocks, remarks
from favor.report.text_font import PREAMBLE as TEXT_FONT
from favor.report.text_font import write_text_font
from favor.running.jobs.environment import latex_available
from favor.tables.escape import latex as escape
from favor.tables.leaderboard import LEADERBOARD

# Fixed so that pdfTeX writes no clock time: 2026-01-01 00:00:00 UTC.
EPOCH = "1767225600"
AUTHOR = "FAVoR Workflow"  # of the document: what wrote it, not who ran it
SECONDS = 300  # of a pass
PASSES = 8  # at most; a table that spans pages takes four
DRAFTS = 2  # passes that set no page: what they leave is all that the third can use
LEFT = (".aux", ".toc", ".lot", ".out")  # what a pass leaves for the next

PREAMBLE = (
    r"""\documentclass[10pt,a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
\usepackage{fix-cm,booktabs,graphicx,amssymb,array,longtable,float}
\usepackage[expansion=false]{microtype}
\usepackage[font=small,labelfont=bf,skip=6pt]{caption}
\usepackage[hidelinks,pdfusetitle,pdflang=en,pdfsubject={Federated personalised text generation, measured}]{hyperref}
"""
    + TEXT_FONT
    + r"""\renewcommand{\familydefault}{\sfdefault}
\pdfinfoomitdate=1 \pdfsuppressptexinfo=-1 \pdftrailerid{}
\makeatletter\renewcommand*\l@subsection{\@dottedtocline{2}{1.5em}{2.8em}}\makeatother
\setlength{\parindent}{0pt}\setlength{\parskip}{5pt plus 1pt}
\setcounter{topnumber}{4}\setcounter{totalnumber}{6}\renewcommand{\labelitemi}{$\bullet$}\renewcommand{\topfraction}{.95}\renewcommand{\bottomfraction}{.8}\renewcommand{\textfraction}{.04}
\renewcommand{\floatpagefraction}{.75}\setcounter{bottomnumber}{4}
\sloppy
"""
    + TABLES
)


def latex_source(report: Report) -> str:
    """Return the report's LaTeX source. Figures are expected as ``figure-0.pdf``, ``figure-1.pdf``, ... beside it."""
    files = {figure.pdf: f"figure-{number}" for number, figure in enumerate(_figures(report))}
    parts = [
        PREAMBLE,
        rf"\title{{{escape(report.title)}}}\author{{{escape(AUTHOR)}}}\date{{}}",
        r"\begin{document}",
        rf"{{\LARGE\bfseries {escape(report.title)}\par}}",
        *_opening(report.experiments[0], files),
        r"\tableofcontents{\small\listoftables}",
        *_experiment(report.experiments[0], files),
    ]
    for experiment in report.experiments[1:]:
        # Every figure of an experiment stands before the next one.
        parts += [r"\clearpage", *_opening(experiment, files), *_experiment(experiment, files)]
    if report.figures:
        parts += [
            r"\favorroom\section{How it works}",
            *(_figure(figure, files[figure.pdf]) for figure in report.figures),
        ]
    if report.notes:
        parts += [r"\section{What was left out, and why}", *(escape(note) + r"\par" for note in report.notes)]
    digests = ", ".join(f"{experiment.name}: {digest(experiment.settings)}" for experiment in report.experiments)
    parts.append(
        r"\section{Provenance}Equal digests are equal resolved values of the configuration. "
        rf"{escape(digests)}. What differs between runs whose reports are equal (commit, command, machine, time and "
        r"memory) stands beside the report in \texttt{provenance.html}."
    )
    if report.cautions:
        items = "\n".join(rf"\item {escape(caution)}" for caution in report.cautions)
        parts.append(rf"\section{{Cautions}}\begin{{itemize}}{items}\end{{itemize}}")
    if report.rerun:
        lines = r"\\".join(rf"\texttt{{{escape(command)}}}" for command in report.rerun)
        parts.append(rf"\section{{Run it again}}{{\raggedright {lines}\par}}")
    return "\n".join([*parts, r"\end{document}", ""])


def write_pdf_report(path: str | Path, report: Report) -> None:
    """Write ``report`` as PDF. Raises ``UserError`` where LaTeX is absent or fails (with its own error line)."""
    if not latex_available():
        raise UserError("pdflatex is not installed; install texlive-latex-recommended, or leave out report.pdf")
    with tempfile.TemporaryDirectory(prefix="favor-report-") as name:
        folder = Path(name)
        (folder / "report.tex").write_text(latex_source(report), encoding="utf-8")
        for number, figure in enumerate(_figures(report)):
            if not figure.pdf.is_file():
                raise UserError(f"{figure.pdf}: file not found; run the workflow so that it is made")
            shutil.copyfile(figure.pdf, folder / f"figure-{number}.pdf")
        compile_latex(folder / "report.tex")
        with atomic_path(path) as temporary:
            shutil.copyfile(folder / "report.pdf", temporary)


def compile_latex(source: Path) -> Path:
    """Run pdfLaTeX on ``source`` in its own folder and return the PDF. Raises ``UserError`` with LaTeX's error line.

    The font that :data:`PREAMBLE` names is written into the same folder.

    It runs until what a pass leaves for the next no longer changes. latexmk goes by the times of these files, and on a
    busy machine it stopped a pass early: equal reports then had different tables of contents.
    """
    command = ["pdflatex", "-recorder", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"]
    clock = {"SOURCE_DATE_EPOCH": EPOCH, "FORCE_SOURCE_DATE": "1", "TZ": "UTC", "max_print_line": "1000"}
    # shell escape stays off whatever the machine's TeX configuration says.
    environment = {**os.environ, **clock, "shell_escape": "f", "openin_any": "p", "openout_any": "p"}
    write_text_font(source.parent)
    left: dict[str, bytes] = {}
    for number in range(PASSES):
        before = left
        draft = ["-draftmode"] if number < DRAFTS else []
        try:
            result = subprocess.run(
                [*command, *draft, source.name],
                cwd=source.parent,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise UserError(
                f"{source.name}: LaTeX did not end within {SECONDS} seconds; see the tables' .tex files"
            ) from None
        if result.returncode != 0:
            raise UserError(f"{source.name}: LaTeX failed: {_first_error(result.stdout)}")
        left = {path.name: path.read_bytes() for path in source.parent.iterdir() if path.suffix in LEFT}
        if left == before and not draft:
            break
    return source.with_suffix(".pdf")


def _first_error(output: str) -> str:
    match = re.search(r"^(?:\./)?[\w.-]+\.\w+:\d+: .*$|^! .*$", output, flags=re.MULTILINE)
    return match[0] if match else (output.strip().splitlines() or ["no output"])[-1]


def _figures(report: Report) -> list[Figure]:
    return [*report.figures, *(figure for experiment in report.experiments for figure in experiment.figures)]


def _opening(experiment: ExperimentReport, files: dict[Path, str]) -> list[str]:
    """What ran, what came out, and how sure it is."""
    facts = [
        (experiment.kind, experiment.name),
        ("Corpus", experiment.dataset),
        ("Seeds", ", ".join(str(seed) for seed in experiment.seeds)),
        ("Methods", ", ".join(method_name(key, experiment.display) for key in experiment.methods)),
        *experiment.facts.items(),
    ]
    items = "\n".join(rf"\item[{escape(name)}] {escape(value)}" for name, value in facts if value)
    parts = [
        rf"\section{{{escape(experiment.title)}}}",
        rf"\begin{{quote}}\itshape {escape(statement(experiment))}\end{{quote}}",
        rf"\begin{{description}}\setlength{{\itemsep}}{{0pt}}{items}\end{{description}}",
        *(rf"\textbf{{{escape(caution)}}}\par" for caution in experiment.cautions),
        _finding(experiment),
    ]
    if experiment.figures:
        parts.append(_figure(experiment.figures[0], files[experiment.figures[0].pdf], 0.3))
    if experiment.leaderboard is not None and len(experiment.leaderboard):
        parts.append(captioned_table(experiment.leaderboard, LEADERBOARD.removesuffix(".")))
    return parts


def _finding(experiment: ExperimentReport) -> str:
    # A demo claims nothing, so nothing of it is bold.
    if not experiment.finding or experiment.is_demo:
        return escape(experiment.finding) + r"\par"
    return rf"\textbf{{{escape(experiment.finding)}}}\par"


def _experiment(experiment: ExperimentReport, files: dict[Path, str]) -> list[str]:
    parts = []
    if len(experiment.figures) > 1:
        parts.append(r"\favorroom\subsection{Figures}")
        *others, last = experiment.figures[1:]
        parts += [_figure(figure, files[figure.pdf]) for figure in others]
        # What the last one does not leave of its page, the tables take.
        parts.append(_figure(last, files[last.pdf], place="htbp"))
    groups = by_section(experiment.tables)
    for section, tables in groups:
        parts.append(rf"\favorroom\subsection{{{escape(section)}}}")
        parts += [_table(experiment, table) for table in tables]
    parts += _numbers(experiment)
    if not experiment.is_demo:  # whose values are beside no paper's, here as in its tables
        parts += _agreement([table for _, tables in groups for table in tables])
    parts += _preparation(experiment)
    if experiment.settings:
        settings = pd.DataFrame(flat_settings(experiment.settings), columns=["Key", "Value"])
        parts += [r"\favorroom\subsection{Resolved configuration}", plain_table(settings)]
    return parts


def _preparation(experiment: ExperimentReport) -> list[str]:
    sentences = remarks(experiment.preparation)
    tables = blocks(experiment.preparation)
    if not tables and not sentences:
        return []
    return [
        r"\favorroom\subsection{Data preparation}",
        *(escape(sentence) + r"\par" for sentence in sentences),
        *(captioned_table(frame, caption) for caption, frame in tables),
    ]


def _table(experiment: ExperimentReport, table: ReportTable) -> str:
    if missing := nothing_to_show(table):
        return rf"\textbf{{{escape(table.spec.title)}.}} {escape(missing)}\par"
    where = f"The paper prints it as its {table.spec.paper}." if table.spec.paper else ""
    note = " ".join(filter(None, (table_note(experiment, table), where)))
    # Labels are unique: two experiments may print the same table.
    label = f"{experiment.name}:{table.spec.label}"
    return report_table(table.spec, table.cells, label, note, paper=not experiment.is_demo)


def _numbers(experiment: ExperimentReport) -> list[str]:
    if not experiment.numbers:
        return []
    shown, absent = number_rows(experiment.numbers)
    table = [escape(NUMBERS_CAPTION), plain_table(shown, (".36", ".14", ".14", ".09", ".15"))] if len(shown) else []
    return [rf"\favorroom\subsection{{{NUMBERS_TITLE}}}", *table, *([escape(absent) + r"\par"] if absent else [])]


def _agreement(tables: Sequence[ReportTable]) -> list[str]:
    """The order of rows against the paper's, all tables of an experiment together."""
    found = [(table.spec.title, agreement(table.spec, table.cells)) for table in tables]
    rows = [agreement_rows(frame[frame["note"] == ""]).assign(Table=title) for title, frame in found]
    shown = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    if shown.empty:
        return []
    shown = shown[["Table", "Column", "Rows", "Spearman", "Kendall"]]
    text = (
        "Whether the rows of a column come in the paper's order: Spearman's rho and Kendall's tau-b over the rows that "
        "both print. Columns with fewer than three such rows, or without variation, are left out."
    )
    return [
        r"\favorroom\subsection{Agreement with the paper}",
        escape(text),
        plain_table(shown, (".3", ".34", ".07", ".1", ".08")),
    ]


def _figure(figure: Figure, file: str, height: float = 0.36, place: str = "H") -> str:
    return "\n".join(
        [
            rf"\begin{{figure}}[{place}]\centering",
            rf"\includegraphics[width=\linewidth,height={height}\textheight,keepaspectratio]{{{file}}}",
            rf"\caption[{{{escape(figure.title)}}}]{{{escape(figure.title)}. {escape(figure.caption)}}}",
            r"\end{figure}",
        ]
    )
