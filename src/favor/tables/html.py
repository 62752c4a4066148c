"""Table cells as an accessible HTML table: marks readable without colour or sight, the paper's value beside ours.

And the page that every HTML file of the workflow is.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd
from markupsafe import Markup

from favor.foundation.html import content_policy, render
from favor.paper.names import SEPARATOR, unmarked
from favor.tables.build import is_control, ruled_rows, stub_cells
from favor.tables.cell_table import PrintedCell
from favor.tables.cells import printed_paper
from favor.tables.escape import minus
from favor.tables.marks import dash_reasons, letter, mark_notes, row_notes
from favor.tables.specs import Column, Panel, TableSpec

PASSED = "Beside a method: how many of its texts passed the quality filter, over all seeds."
ASIDE = ("interval", "p", "author_p", "p_holm")  # of a comparison, as the paper prints them


def html_table(
    spec: TableSpec, cells: pd.DataFrame, note: str = "", passed: Mapping[str, str] = MappingProxyType({})
) -> Markup:
    """Return the HTML of the ``table_cells`` of ``spec``: one table per panel, then its notes and reasons.

    A cell shows our mean, its deviation where it is printed, and below them the paper's value and ours minus the
    paper's where the paper prints one. A row that has nothing else is shown and hidden with the paper's values. Control
    rows stand below a rule. ``note``: sentence added to the caption. ``passed``: how many texts of how many passed the
    filter, by the name of their method without a note's mark. p-values of a table of comparisons are set apart with the
    paper's values: the page has one verdict on two methods.
    """
    reasons = dash_reasons(cells)
    panels = []
    for number, panel in enumerate(spec.panels):
        caption = " ".join(filter(None, (panel.title and f"{panel.title}.", spec.caption if number == 0 else "", note)))
        own = cells[cells["panel"] == panel.title]
        sections = [
            (str(section), list(_rows(spec, panel, block, reasons, passed)))
            for section, block in own.groupby("section", sort=False)
        ]
        panels.append(
            {
                "name": f"{spec.label}-{number}",
                "caption": caption,
                "title": panel.title,
                "columns": panel.columns,
                "sections": sections,
            }
        )
    return render(
        Path(__file__).parent / "templates",
        "table.html",
        panels=panels,
        sectioned=spec.sectioned,
        aside=ASIDE,
        stubs=(["Dataset"] if spec.sectioned else []) + list(spec.stub_headers),
        notes=[
            *([PASSED] if any(unmarked(row.split(SEPARATOR)[0]) in passed for row in cells["row"].unique()) else []),
            *mark_notes(cells),
            *row_notes(spec, cells),
        ],
        reasons=[(letter(number), reason) for reason, number in reasons.items()],
    )


def html_document(spec: TableSpec, cells: pd.DataFrame) -> str:
    return page(spec.title, Markup("<h1>{}</h1>\n{}").format(spec.title, html_table(spec, cells).rstrip("\n")))


def _rows(
    spec: TableSpec, panel: Panel, cells: pd.DataFrame, reasons: dict[str, int], passed: Mapping[str, str]
) -> Iterator[dict[str, object]]:
    """Yield the rows of a section; groups and controls are set apart by a rule."""
    columns = {column.label: column for column in panel.columns}
    for _, row, line, ruled in ruled_rows(spec, cells):
        kinds = (["rule"] if ruled else []) + (["control"] if is_control(row) else [])
        shown = [_cell(cell, spec.column_in(row, columns[cell["column"]]), reasons) for cell in line]
        if not spec.sectioned and all(cell["why"] for cell in shown) and any(cell["beside"] for cell in shown):
            kinds.append("beside")  # nothing but the paper's values; a section's first row holds its name
        yield {
            "kind": " ".join(kinds),
            "names": (names := stub_cells(row, len(spec.stub_headers))),
            "passed": passed.get(unmarked(names[0]), ""),
            "cells": shown,
        }


def _cell(cell: PrintedCell, column: Column, reasons: dict[str, int]) -> dict[str, object]:
    value, (paper, difference) = cell["value"], printed_paper(cell, column)
    absent = math.isnan(value)
    text, _, deviation = cell["text"].partition(" ± ")
    beside = f"paper {paper}" + (f" ({difference})" if difference else "")
    return {
        "wide": column.wide,
        "aside": column.statistic in ASIDE,
        "value": "" if absent else repr(float(value)),
        "rounded": f"{value:.6g}",
        "text": cell["text"] if absent else minus(text),
        "mark": "" if absent else cell["mark"],
        "deviation": "" if absent else deviation,
        "letter": letter(reasons[cell["reason"]]) if cell["reason"] else "",
        "why": cell["reason"] if absent else "",
        "beside": minus(beside) if paper else "",
    }


def page(title: str, body: Markup, script: str = "", style: str = "", policy: str = "") -> str:
    """Return a whole HTML document around ``body``: light and dark, for print and narrow screens, loading nothing.

    ``script`` runs at its end and is all that runs; ``style`` is added to the style sheet, ``policy`` to what the page
    may do (:func:`favor.foundation.html.content_policy`).
    """
    own = {"script": Markup(script), "style": Markup(style), "policy": content_policy(script, policy)}
    return render(Path(__file__).parent / "templates", "page.html", title=title, body=body, **own) + "\n"
