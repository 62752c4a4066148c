"""What stands below a table: reasons of dashes, lettered, and the notes of marked rows."""

from __future__ import annotations

from string import ascii_lowercase

import pandas as pd

from favor.paper.names import SEPARATOR, method_notes
from favor.report.specs import TableSpec

MARKS = "Best of the ranked rows in bold, second-best underlined; equal printed numbers share a mark."


def footnotes(cells: pd.DataFrame) -> dict[str, int]:
    """Return the distinct reasons of ``cells`` in reading order, numbered from 0."""
    ordered = cells.sort_values("order", kind="stable")["reason"]
    return {reason: number for number, reason in enumerate(dict.fromkeys(reason for reason in ordered if reason))}


def letter(number: int) -> str:
    """Return footnote letters a, b, ... z, aa, ab, ... for 0, 1, ... 25, 26, 27, ..."""
    prefix = letter(number // 26 - 1) if number >= 26 else ""
    return prefix + ascii_lowercase[number % 26]


def row_notes(spec: TableSpec, cells: pd.DataFrame) -> list[str]:
    """Return the methods' notes and the specification's whose first character stands in the name of a row shown.

    Then the specification's remarks on what is shown.
    """
    names = "".join(cells["row"].unique())
    columns = {column.method for panel in spec.panels for column in panel.columns}
    shown = {"", *columns, *(row.split(SEPARATOR)[0] for row in cells["row"].unique())}
    remarks = dict.fromkeys(text for name, text in spec.remarks.items() if name in shown and text)
    return [*(note for note in (*method_notes(), *spec.notes) if note[0] in names), *remarks]


def mark_notes(cells: pd.DataFrame) -> list[str]:
    """Return the sentence about bold and underlined numbers, if any cell has a mark."""
    return [MARKS] if (cells["mark"] != "").any() else []
