"""The notes below a table: what its marks rest on, notes on rows, and lettered reasons for dashes."""

from __future__ import annotations

from string import ascii_lowercase

import pandas as pd

from favor.paper.names import SEPARATOR, method_notes
from favor.tables.significance_marks import BY_EVIDENCE, BY_MEANS, LEVEL
from favor.tables.specs import TableSpec

MARKS = {
    BY_MEANS: "Best of the ranked rows in bold, second-best underlined, by printed means; equal numbers share a mark.",
    BY_EVIDENCE: "{below}: significantly worse than the column's best (sign-flip test over authors, Holm over the "
    f"column, p < {LEVEL:g}). n. s.: not significantly worse.",
}
SPREAD = "±: sample standard deviation over seeds, which share authors: it says nothing of other authors."


def dash_reasons(cells: pd.DataFrame) -> dict[str, int]:
    """Return the distinct reasons of ``cells`` in reading order, numbered from 0."""
    ordered = cells.sort_values("order", kind="stable")["reason"]
    return {reason: number for number, reason in enumerate(dict.fromkeys(reason for reason in ordered if reason))}


def letter(number: int) -> str:
    """Return footnote letters a, b, ... z, aa, ab, ... for 0, 1, ... 25, 26, 27, ..."""
    prefix = letter(number // 26 - 1) if number >= 26 else ""
    return prefix + ascii_lowercase[number % 26]


def row_notes(spec: TableSpec, cells: pd.DataFrame) -> list[str]:
    """Return the notes of methods whose first character stands in a row's name, then the footnotes of ``spec``.

    A footnote is left out where what it is about is not shown.
    """
    if cells.empty:
        return ["No row of this table was run."]
    names = "".join(cells["row"].unique())
    columns = {column.method for panel in spec.panels for column in panel.columns}
    shown = {"", *columns, *(row.split(SEPARATOR)[0] for row in cells["row"].unique())}
    footnotes = dict.fromkeys(text for name, text in spec.footnotes.items() if name in shown and text)
    return [*(note for note in method_notes() if note[0] in names), *footnotes]


def mark_notes(cells: pd.DataFrame, below: str = "Grey") -> list[str]:
    """Return what deviations are, what marks rest on, and which columns have none, and why.

    ``below``: how a cell is printed that is significantly worse than the best.
    """
    ranked = cells[cells["marking"] != ""]
    spread = cells["text"].str.contains(r"\d ± ", regex=True).any()
    notes = [SPREAD] if spread else []
    notes += [text.format(below=below) for name, text in MARKS.items() if (ranked["marking"] == name).any()]
    whole = ranked["column"].nunique()
    for reason, rows in ranked[~ranked["marking"].isin(list(MARKS))].groupby("marking", sort=False):
        names = _columns(rows, ranked)
        where = "Nothing is marked" if len(names) == whole else f"Nothing is marked in {', '.join(names)}"
        notes.append(f"{where}: {reason}.")
    return notes


def _columns(rows: pd.DataFrame, ranked: pd.DataFrame) -> list[str]:
    """Name the columns of ``rows``, with their panel or encoder where other contests of that column do differ."""
    names = []
    for column, own in rows.groupby("column", sort=False):
        others = ranked[ranked["column"] == column]
        places = [key for key in ("panel", "section") if others[key].nunique() > 1]
        parts = {tuple(own[key].iloc[at] for key in places) for at in range(len(own))}
        stubs = own["row"].str.split(SEPARATOR, n=1).str[1].dropna().unique()
        if len(own) < len(others) and len(parts) == 1 and len(stubs):
            parts = {(*next(iter(parts)), stub) for stub in stubs}
        detail = sorted(", ".join(filter(None, part)) for part in parts) if len(own) < len(others) else []
        names.append(f"{column} ({'; '.join(detail)})" if any(detail) else str(column))
    return names
