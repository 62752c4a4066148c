"""Table cells as an accessible HTML table: marks readable without colour or sight, the paper's value beside ours."""

from __future__ import annotations

import math

import pandas as pd

from favor.paper.names import SEPARATOR
from favor.tables.build import is_control
from favor.tables.cell_table import rows_of_cells
from favor.tables.cells import printed_deviation, printed_paper
from favor.tables.escape import html_text, minus
from favor.tables.notes import footnotes, letter, mark_notes, row_notes
from favor.tables.specs import Column, Panel, TableSpec
from favor.tables.style import page

_DIRECTIONS = {"up": ("↑", "higher is better"), "down": ("↓", "lower is better")}


def html_table(spec: TableSpec, cells: pd.DataFrame, note: str = "") -> str:
    """Return the HTML of the ``table_cells`` of ``spec``: one table a panel, then its notes and reasons.

    A cell shows our mean, its deviation where there are several seeds, and below them the paper's value and ours
    minus the paper's where the paper prints one. Control rows stand below a rule. ``note``: sentence added to the
    caption.
    """
    reasons = footnotes(cells)
    parts = []
    for number, panel in enumerate(spec.panels):
        caption = " ".join(filter(None, (panel.title and f"{panel.title}.", spec.caption if number == 0 else "", note)))
        parts.append(
            _panel(spec, panel, cells[cells["panel"] == panel.title], caption, reasons, f"{spec.label}-{number}")
        )
    notes = [html_text(text) for text in (*mark_notes(cells), *row_notes(spec, cells))]
    notes += [f"<sup>{letter(number)}</sup> {html_text(reason)}." for reason, number in reasons.items()]
    if notes:
        parts.append('<ul class="notes">' + "".join(f"<li>{text}</li>" for text in notes) + "</ul>")
    return "\n".join(parts)


def html_document(spec: TableSpec, cells: pd.DataFrame, note: str = "") -> str:
    """Return a self-contained HTML document with this one table."""
    return page(spec.title, f"<h1>{html_text(spec.title)}</h1>\n{html_table(spec, cells, note)}")


def _panel(
    spec: TableSpec, panel: Panel, cells: pd.DataFrame, caption: str, reasons: dict[str, int], identifier: str
) -> str:
    stubs = (["Dataset"] if spec.sectioned else []) + list(spec.stub_headers)
    head = "".join(f'<th scope="col" class="stub">{html_text(stub)}</th>' for stub in stubs)
    head += "".join(_header(column) for column in panel.columns)
    groups = {row.label: row.group for row in spec.rows}
    columns = {column.label: column for column in panel.columns}
    bodies: list[str] = []
    for section, block in cells.groupby("section", sort=False):
        lines: list[str] = []
        previous: tuple[str, bool] | None = None
        rows = list(rows_of_cells(block))
        for _, row, line in rows:
            current = (groups.get(row, ""), is_control(row))
            names = [
                name for name in ("rule" if previous not in (None, current) else "", "control" * current[1]) if name
            ]
            previous = current
            start = f' class="{" ".join(names)}"' if names else ""
            leading = f'<th scope="rowgroup" rowspan="{len(rows)}" class="stub">{html_text(str(section))}</th>'
            texts = [leading if spec.sectioned and not lines else "", *_stub(row, len(spec.stub_headers))]
            texts += [_cell(cell, spec.column_in(row, columns[cell["column"]]), reasons) for cell in line]
            lines.append(f"<tr{start}>{''.join(texts)}</tr>")
        bodies.append("<tbody>\n" + "\n".join(lines) + "\n</tbody>")
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="caption-{identifier}">\n<table>\n'
        f'<caption id="caption-{identifier}">{html_text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        + "\n".join(bodies)
        + "\n</table>\n</div>"
    )


def _stub(row: str, count: int) -> list[str]:
    parts = row.split(SEPARATOR, count - 1) if count > 1 else [row]
    parts += [""] * (count - len(parts))
    return [f'<th scope="row">{html_text(part)}</th>' for part in parts]


def _header(column: Column) -> str:
    lines = [html_text(line) for line in column.header.split("\n")]
    arrow = ""
    if column.direction:
        sign, meaning = _DIRECTIONS[column.direction]
        arrow = f' <span aria-hidden="true">{sign}</span><span class="hidden">({meaning})</span>'
    return f'<th scope="col">{"<br>".join(lines)}{arrow}</th>'


def _cell(cell: dict, column: Column, reasons: dict[str, int]) -> str:
    sign = f"<sup>{letter(reasons[cell['reason']])}</sup>" if cell["reason"] else ""
    known = "" if math.isnan(cell["value"]) else f' data-value="{cell["value"]:.8g}" title="{cell["value"]:.6g}"'
    start = f'<td class="wide"{known}>' if column.wide else f"<td{known}>"
    if math.isnan(cell["value"]):
        why = f'<span class="hidden">({html_text(cell["reason"])})</span>' if cell["reason"] else ""
        return f"{start}{html_text(cell['text'])}{sign}{why}{_beside(cell, column)}</td>"
    mean, deviation = cell["text"].partition(" ± ")[0], printed_deviation(cell, column)
    shown = _minus(mean)
    if cell["mark"] == "best":
        shown = f'<strong>{shown}</strong><span class="hidden"> (best)</span>'
    if cell["mark"] == "second":
        shown = f'<u>{shown}</u><span class="hidden"> (second-best)</span>'
    spread = f' <span class="dev">± {deviation}</span>' if deviation else ""
    return f"{start}{shown}{spread}{sign}{_beside(cell, column)}</td>"


def _beside(cell: dict, column: Column) -> str:
    text, difference = printed_paper(cell, column)
    if not text:
        return ""
    return f'<span class="beside">{_minus(f"paper {text}" + (f" ({difference})" if difference else ""))}</span>'


def _minus(text: str) -> str:
    return html_text(minus(text))
