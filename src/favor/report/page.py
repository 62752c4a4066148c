"""The HTML report: one self-contained file, readable on a phone, on paper and without colour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.files import write_text
from favor.paper.names import method_name
from favor.report.compare import agreement, agreement_rows
from favor.report.content import (
    ExperimentReport,
    Figure,
    Report,
    ReportTable,
    by_section,
    flat_settings,
    statement,
    table_note,
)
from favor.report.escape import html_text
from favor.report.html import html_table
from favor.report.number_rows import NUMBERS_CAPTION, NUMBERS_TITLE, number_rows
from favor.report.preparation import blocks, remarks
from favor.report.style import page


def write_html_report(path: str | Path, report: Report) -> None:
    """Write ``report`` as one HTML file that loads nothing from anywhere."""
    parts = [f"<h1>{html_text(report.title)}</h1>", _contents(report)]
    parts += [_paragraph(note) for note in report.notes]
    parts += [_figure(figure, f"figure-{number}") for number, figure in enumerate(report.figures)]
    for experiment in report.experiments:
        parts += _experiment(experiment)
    parts += _closing(report)
    write_text(page(report.title, "\n".join(parts)), path)


def _contents(report: Report) -> str:
    links = []
    for experiment in report.experiments:
        links.append((f"experiment-{experiment.name}", experiment.title))
        tables = [table for _, entries in by_section(experiment.tables) for table in entries]
        links += [(f"table-{experiment.name}-{table.spec.label}", table.spec.title) for table in tables]
    links += [("cautions", "Cautions")] * bool(report.cautions) + [("again", "Run it again")] * bool(report.rerun)
    items = "".join(f'<li><a href="#{html_text(link)}">{html_text(text)}</a></li>' for link, text in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _experiment(experiment: ExperimentReport) -> list[str]:
    name = html_text(experiment.name)
    parts = [
        f'<h2 id="experiment-{name}">{html_text(experiment.title)}</h2>',
        f'<p class="statement">{html_text(statement(experiment))}</p>',
        _facts(
            [
                (experiment.kind, experiment.name),
                ("Corpus", experiment.dataset),
                ("Seeds", ", ".join(str(seed) for seed in experiment.seeds)),
                ("Methods", ", ".join(method_name(key, experiment.display) for key in experiment.methods)),
                *experiment.facts.items(),
            ]
        ),
    ]
    if experiment.settings:
        table = pd.DataFrame(flat_settings(experiment.settings), columns=["Key", "Value"])
        settings = _plain_table(table, "Resolved values of every choice", f"settings-{experiment.name}", text=True)
        parts.append(f"<details><summary>Resolved configuration ({len(table)} values)</summary>{settings}</details>")
    parts += _preparation(experiment)
    for section, entries in by_section(experiment.tables):
        parts.append(f"<h3>{html_text(section)}</h3>")
        for entry in entries:
            parts += _table(experiment, entry)
    parts += _numbers(experiment)
    if experiment.figures:
        parts.append("<h3>Figures</h3>")
        parts += [_figure(figure, f"{experiment.name}-{number}") for number, figure in enumerate(experiment.figures)]
    return parts


def _preparation(experiment: ExperimentReport) -> list[str]:
    tables = blocks(experiment.preparation)
    sentences = remarks(experiment.preparation)
    if not tables and not sentences:
        return []
    parts = ["<h3>Data preparation</h3>", *map(_paragraph, sentences)]
    for number, (caption, frame) in enumerate(tables):
        parts.append(_plain_table(frame, caption, f"preparation-{experiment.name}-{number}"))
    return parts


def _table(experiment: ExperimentReport, table: ReportTable) -> list[str]:
    title = f'<h4 id="table-{html_text(experiment.name)}-{table.spec.label}">{html_text(table.spec.title)}</h4>'
    where = f"The paper prints this table as its {table.spec.paper}." if table.spec.paper else ""
    parts = [title, html_table(table.spec, table.cells, table_note(experiment, table))] + [_paragraph(where)] * bool(
        where
    )
    agreements = agreement(table.spec, table.cells)
    if len(agreements):
        identifier = f"agreement-{experiment.name}-{table.spec.label}"
        shown = _plain_table(agreement_rows(agreements), "Order of the rows, ours against the paper's", identifier)
        parts.append(f"<details><summary>Does the order agree with the paper?</summary>{shown}</details>")
    return parts


def _numbers(experiment: ExperimentReport) -> list[str]:
    if not experiment.numbers:
        return []
    shown, absent = number_rows(experiment.numbers)
    table = _plain_table(shown, NUMBERS_CAPTION, f"numbers-{experiment.name}")
    return [f"<h3>{NUMBERS_TITLE}</h3>", *([table] if len(shown) else []), *([_paragraph(absent)] if absent else [])]


def _plain_table(frame: pd.DataFrame, caption: str, identifier: str, text: bool = False) -> str:
    name, kind = html_text(identifier), " text" if text else ""
    head = "".join(
        f'<th scope="col"{" class=stub" if number == 0 else ""}>{html_text(str(name))}</th>'
        for number, name in enumerate(frame.columns)
    )
    rows = []
    for values in frame.itertuples(index=False):
        first, *others = (html_text(str(value)) for value in values)
        rows.append(f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{value}</td>" for value in others) + "</tr>")
    return (
        f'<div class="scroll{kind}" role="region" tabindex="0" aria-labelledby="{name}"><table>'
        f'<caption id="{name}">{html_text(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in facts if value)
    return f'<dl class="facts">{items}</dl>'


def _figure(figure: Figure, identifier: str) -> str:
    drawing = inline_svg(figure.svg, identifier, figure.title)
    caption = f"<strong>{html_text(figure.title)}.</strong> {html_text(figure.caption)}"
    return f'<figure><div class="drawing" tabindex="0">{drawing}</div><figcaption>{caption}</figcaption></figure>'


def inline_svg(path: Path, identifier: str, title: str) -> str:
    """Return the SVG file as an element to stand inside a page: ids made unique, its title readable aloud.

    Raises ``UserError`` where the file is missing, not SVG, or holds a script.
    """
    try:
        source = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); run the workflow so that it is made") from None
    start = source.find("<svg")
    if start < 0 or re.search(r"<script|\son\w+=|javascript:", source, flags=re.IGNORECASE):
        raise UserError(f"{path}: not a plain SVG drawing; delete it and run again")
    element = re.sub(r"<metadata>.*?</metadata>", "", source[start:], flags=re.DOTALL).strip()
    prefix = re.sub(r"\W", "-", identifier) + "-"
    element = re.sub(r'\bid="', f'id="{prefix}', element)
    element = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", element)
    # The pixel size would fix the drawing on a phone; the view box keeps its proportions.
    head, rest = element.split(">", 1)
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", head)
    return f'{head} role="img" aria-label="{html_text(title)}">{rest}'


def _closing(report: Report) -> list[str]:
    parts = []
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
