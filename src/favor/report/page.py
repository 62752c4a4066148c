"""The HTML report: one self-contained file, readable on a phone, on paper and without colour."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.paper.names import method_name, unmarked
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
    table_file,
    table_note,
)
from favor.report.number_rows import NUMBERS_CAPTION, NUMBERS_TITLE, number_rows
from favor.report.preparation import blocks, remarks
from favor.report.reading import SCRIPT, STYLE
from favor.running.folder.run_record import PAGE
from favor.tables.escape import html_text
from favor.tables.html import html_table
from favor.tables.leaderboard import LEADERBOARD
from favor.tables.style import page

OPENING = ("Base model", "Clients", "Protocol", "Budget")  # facts of the first screen


def write_html_report(path: str | Path, report: Report) -> None:
    """Write ``report`` as one HTML file that loads nothing from anywhere."""
    parts = [f"<h1>{html_text(report.title)}</h1>"]
    first, *others = report.experiments
    parts += [*_opening(first), _contents(report), *_experiment(first)]
    for experiment in others:
        parts += [*_opening(experiment), *_experiment(experiment)]
    if report.figures:
        parts.append('<h2 id="overview">How it works</h2>')
        parts += [_figure(figure, f"figure-{number}") for number, figure in enumerate(report.figures)]
    parts += _closing(report)
    demo = all(experiment.is_demo for experiment in report.experiments)
    write_text(page(report.title, "\n".join(parts), SCRIPT, STYLE, demo), path)


def _contents(report: Report) -> str:
    """A folded list of every part, grouped by experiment and section."""
    groups = []
    for experiment in report.experiments:
        name = experiment.name
        links = [(f"experiment-{name}", "Result")]
        links += [(f"figures-{name}", "Figures")] * (len(experiment.figures) > 1)
        links += [(f"numbers-of-{name}", NUMBERS_TITLE)] * bool(experiment.numbers)
        links += [(f"preparation-{name}", "Data preparation")] * bool(_preparation(experiment))
        groups.append((experiment.title, links))
        groups += [
            (section, [(f"table-{name}-{table.spec.label}", table.spec.title) for table in entries])
            for section, entries in by_section(experiment.tables)
        ]
    closing = [("overview", "How it works")] * bool(report.figures)
    closing += [("left-out", "What was left out, and why")] * bool(report.notes)
    closing += [("provenance", "Provenance")]
    closing += [("cautions", "Cautions")] * bool(report.cautions) + [("again", "Run it again")] * bool(report.rerun)
    groups.append(("This report", closing))
    parts = []
    for title, links in groups:
        items = "".join(f'<li><a href="#{html_text(link)}">{html_text(text)}</a></li>' for link, text in links)
        parts.append(f"<div><strong>{html_text(title)}</strong><ul>{items}</ul></div>" if items else "")
    return f'<nav aria-label="Contents"><details><summary>Contents</summary>{"".join(parts)}</details></nav>'


def _opening(experiment: ExperimentReport) -> list[str]:
    """What ran, what came out, and how sure it is: all on the first screen."""
    name = html_text(experiment.name)
    parts = [
        f'<h2 id="experiment-{name}">{html_text(experiment.title)}</h2>',
        f'<p class="statement">{html_text(statement(experiment))}</p>',
        _facts(
            [
                (experiment.kind, experiment.name),
                ("Corpus", experiment.dataset),
                *((key, value) for key, value in experiment.facts.items() if key in OPENING),
                ("Seeds", ", ".join(str(seed) for seed in experiment.seeds)),
                ("Rows", _rows_of(experiment)),
            ],
            "opening",
        ),
    ]
    parts += [f'<p class="caution">{html_text(caution)}</p>' for caution in experiment.cautions]
    if experiment.finding:
        parts.append(f'<p class="finding">{html_text(experiment.finding)}</p>')
    if experiment.gallery:
        link = f'<a href="{html_text(experiment.gallery)}">Gallery</a>'
        parts.append(f"<p>{link}: one prompt per author, the author's own continuation and every row's.</p>")
    board = experiment.leaderboard
    if board is not None and len(board):
        caption = f"leaderboard-{experiment.name}"
        names = json.dumps([unmarked(method_name(key, experiment.display)) for key in experiment.methods])
        shown = _plain_table(board, LEADERBOARD, caption, controls="Reference: ")
        parts.append(f'<div class="first" data-methods="{html_text(names)}">{shown}')
    if experiment.figures:
        parts.append(_figure(experiment.figures[0], f"{experiment.name}-0"))
    return [*parts, "</div>"] if board is not None and len(board) else parts


def _rows_of(experiment: ExperimentReport) -> str:
    """Name the rows, unless the leaderboard does."""
    if experiment.leaderboard is not None and len(experiment.leaderboard):
        return str(len(experiment.methods))
    return ", ".join(method_name(key, experiment.display) for key in experiment.methods)


def _experiment(experiment: ExperimentReport) -> list[str]:
    parts = []
    rest = [(key, value) for key, value in experiment.facts.items() if key not in OPENING]
    if any(value for _, value in rest):
        parts.append(_facts(rest))
    if len(experiment.figures) > 1:
        parts.append(_heading(3, f"figures-{html_text(experiment.name)}", "Figures"))
        parts += [
            _figure(figure, f"{experiment.name}-{number}")
            for number, figure in enumerate(experiment.figures[1:], start=1)
        ]
    for section, entries in by_section(experiment.tables):
        name = re.sub(r"\W+", "-", section.lower())
        parts.append(_heading(3, f"section-{html_text(experiment.name)}-{name}", section))
        for entry in entries:
            parts += _table(experiment, entry)
    parts += _numbers(experiment)
    parts += _preparation(experiment)
    if experiment.settings:
        table = pd.DataFrame(flat_settings(experiment.settings), columns=["Key", "Value"])
        settings = _plain_table(table, "Resolved values of every choice", f"settings-{experiment.name}", text=True)
        parts.append(f"<details><summary>Resolved configuration ({len(table)} values)</summary>{settings}</details>")
    return parts


def _preparation(experiment: ExperimentReport) -> list[str]:
    tables = blocks(experiment.preparation)
    sentences = remarks(experiment.preparation)
    if not tables and not sentences:
        return []
    parts = [_heading(3, f"preparation-{html_text(experiment.name)}", "Data preparation"), *map(_paragraph, sentences)]
    for number, (caption, frame) in enumerate(tables):
        parts.append(_plain_table(frame, caption, f"preparation-{experiment.name}-{number}"))
    return parts


def _table(experiment: ExperimentReport, table: ReportTable) -> list[str]:
    identifier = f"table-{html_text(experiment.name)}-{table.spec.label}"
    title = _heading(4, identifier, table.spec.title)
    if missing := nothing_to_show(table):
        return [title, _paragraph(missing)]
    where = f"The paper prints this table as its {table.spec.paper}." if table.spec.paper else ""
    shown = html_table(table.spec, table.cells, table_note(experiment, table))
    parts = [title, f'<div id="of-{identifier}">{shown}</div>', _files(experiment, table, identifier)]
    parts += [_paragraph(where)] * bool(where)
    agreements = agreement(table.spec, table.cells)
    if len(agreements):
        identifier = f"agreement-{experiment.name}-{table.spec.label}"
        shown = _plain_table(agreement_rows(agreements), "Order of the rows, ours against the paper's", identifier)
        parts.append(f"<details><summary>Does the order agree with the paper?</summary>{shown}</details>")
    return parts


def _files(experiment: ExperimentReport, table: ReportTable, identifier: str) -> str:
    """Links to a table's files, which lie beside the report."""
    kinds = ("parquet", "tex", "html")
    links = " · ".join(f'<a href="{html_text(table_file(experiment, table, kind))}">{kind}</a>' for kind in kinds)
    return f'<p class="files" data-of="of-{identifier}" data-name="{html_text(table.spec.label)}">Files: {links}</p>'


def _heading(level: int, identifier: str, text: str) -> str:
    """Return a heading with a link to itself; ``identifier`` is HTML already."""
    link = f'<a class="permalink" href="#{identifier}" aria-label="Link to {html_text(text)}">#</a>'
    return f'<h{level} id="{identifier}">{html_text(text)}{link}</h{level}>'


def _numbers(experiment: ExperimentReport) -> list[str]:
    if not experiment.numbers:
        return []
    shown, absent = number_rows(experiment.numbers)
    table = _plain_table(shown, NUMBERS_CAPTION, f"numbers-{experiment.name}")
    title = _heading(3, f"numbers-of-{html_text(experiment.name)}", NUMBERS_TITLE)
    return [title, *([table] if len(shown) else []), *([_paragraph(absent)] if absent else [])]


def _plain_table(frame: pd.DataFrame, caption: str, identifier: str, text: bool = False, controls: str = "") -> str:
    """Return a table of strings; rows whose first cell begins with ``controls``, if any, are set apart."""
    name, kind = html_text(identifier), " text" if text else ""
    head = "".join(
        f'<th scope="col"{" class=stub" if number == 0 else ""}>{html_text(str(name))}</th>'
        for number, name in enumerate(frame.columns)
    )
    rows = []
    for values in frame.itertuples(index=False):
        first, *others = (html_text(str(value)) for value in values)
        start = ' class="control"' if controls and first.startswith(controls) else ""
        rows.append(
            f'<tr{start}><th scope="row">{first}</th>' + "".join(f"<td>{value}</td>" for value in others) + "</tr>"
        )
    return (
        f'<div class="scroll{kind}" role="region" tabindex="0" aria-labelledby="{name}"><table>'
        f'<caption id="{name}">{html_text(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _facts(facts: Sequence[tuple[str, str]], kind: str = "facts") -> str:
    items = (f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>" for name, value in facts if value)
    return f'<dl class="{kind}">{"".join(items)}</dl>'


def _figure(figure: Figure, identifier: str) -> str:
    numbers = f"The numbers drawn are in {figure.drawn}." if figure.drawn else ""
    drawing = inline_svg(figure.svg, identifier, f"{figure.title}. {figure.caption}", numbers)
    caption = f"<strong>{html_text(figure.title)}.</strong> {html_text(figure.caption)}"
    links = [f'<a href="{html_text(path)}">{html_text(Path(path).stem)}</a>' for path in figure.data]
    files = [f'Numbers drawn: <a href="{html_text(figure.drawn)}">CSV</a>.'] * bool(figure.drawn)
    files += [f"From {' · '.join(links)} (Parquet)."] * bool(links)
    caption += f'<span class="data"> {" ".join(files)}</span>' * bool(files)
    return f'<figure><div class="drawing" tabindex="0">{drawing}</div><figcaption>{caption}</figcaption></figure>'


def inline_svg(path: Path, identifier: str, title: str, ending: str = "") -> str:
    """Return the SVG file as an element to stand inside a page: ids made unique, title and finding readable aloud.

    ``ending``: what is read aloud after the finding.

    Raises ``UserError`` where the file is missing, not SVG, or holds a script.
    """
    try:
        source = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); run the workflow so that it is made") from None
    start = source.find("<svg")
    if start < 0 or re.search(r"<script|\son\w+=|javascript:", source, flags=re.IGNORECASE):
        raise UserError(f"{path}: not a plain SVG drawing; delete it and run again")
    finding = re.search(r"<dc:title>(.*?)</dc:title>", source)
    spoken = " ".join(filter(None, [title, unescape(finding[1]) if finding else "", ending]))
    element = re.sub(r"<metadata>.*?</metadata>", "", source[start:], flags=re.DOTALL).strip()
    prefix = re.sub(r"\W", "-", identifier) + "-"
    element = re.sub(r'\bid="', f'id="{prefix}', element)
    element = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", element)
    # The pixel size would fix the drawing on a phone; the view box keeps its proportions.
    head, rest = element.split(">", 1)
    points = re.search(r'\swidth="([\d.]+)pt"', head)
    widest = f' style="max-width:{1.5 * float(points[1]):.0f}px"' if points else ""  # 7.5 points of text as 11 pixels
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head) + widest
    return f'{head} role="img" aria-label="{html_text(spoken)}">{rest}'


def _closing(report: Report) -> list[str]:
    parts = []
    if report.notes:
        parts.append('<h2 id="left-out">What was left out, and why</h2>')
        parts += [_paragraph(note) for note in report.notes]
    digests = [(experiment.name, digest(experiment.settings)) for experiment in report.experiments]
    parts.append('<h2 id="provenance">Provenance</h2>')
    parts.append(_facts([(f"Configuration of {name}", value) for name, value in digests]))
    parts.append(
        "<p>Equal digests are equal resolved values. Commit, command, machine, and the time and memory of every stage "
        f'stand beside this report, in <a href="{PAGE}">{PAGE}</a>: they differ between runs whose reports are equal.'
        "</p>"
    )
    if report.cautions:
        items = "".join(f"<li>{html_text(caution)}</li>" for caution in report.cautions)
        parts.append(f'<h2 id="cautions">Cautions</h2><ul>{items}</ul>')
    if report.rerun:
        commands = html_text("\n".join(report.rerun))
        parts.append(
            f'<h2 id="again">Run it again</h2><pre><code>{commands}</code></pre>'
            "<p>Only what a change invalidates is made again: a metric reruns its scores and the tables that show "
            "them, a table reruns itself and this report.</p>"
        )
    return parts


def _paragraph(text: str) -> str:
    return f"<p>{html_text(text)}</p>"
