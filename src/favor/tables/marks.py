"""Which cells are marked, significantly below the best or the best by printed means, and the notes below a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from string import ascii_lowercase

import pandas as pd

from favor.paper.names import SEPARATOR, method_notes
from favor.statistics.paired import holm
from favor.tables.cells import Cell, printed
from favor.tables.specs import Column, Marks, Row, TableSpec

LEVEL = 0.05  # a Holm-adjusted p from here on leaves two rows indistinguishable
# The evidence behind the marks of a column, or why nothing is marked; a column of ``table_cells``.
BY_MEANS, BY_EVIDENCE = "printed means", "paired evidence"
UNTESTED = "no paired test covers these columns"
TOGETHER = "own continuations are not shown to score better than shuffled ones, so this may not measure voices"
EVEN = "no method is significantly below the best"
NOTES = {
    BY_MEANS: "Best of the ranked rows in bold, second-best underlined, by printed means; equal numbers share a mark.",
    BY_EVIDENCE: "{below}: significantly worse than the column's best (sign-flip test over authors, Holm over the "
    f"column, p < {LEVEL:g}). n. s.: not significantly worse.",
}
SPREAD = "±: sample standard deviation over seeds, which share authors: it says nothing of other authors."


class Evidence:
    """The table ``evidence`` of one experiment: how sure it is that two rows differ."""

    def __init__(self, table: pd.DataFrame, encoders: Mapping[str, str]) -> None:
        self.encoders = encoders
        keys = ["encoder", "metric", "left_method", "right_method"]
        self.rows = {tuple(row[key] for key in keys): row for row in table.to_dict("records")}

    def p(self, column: Column, row: Row, rival: Row) -> float:
        """Return the p of two rows in a column; 1 for a row against itself, NaN where they were not compared."""
        (encoder, method), (other, left) = (self._place(column, each) for each in (row, rival))
        if encoder != other:
            return math.nan
        return 1.0 if method == left else self._p(encoder, self._metric(column, row), method, left)

    def separates(self, column: Column, row: Row) -> bool | None:
        """Return whether own continuations lie above other authors'; None where the two were not compared."""
        encoder, metric = self._place(column, row)[0], self._metric(column, row)
        found = self.rows.get((encoder, metric, "gold", "shuffled"))
        if found is not None:
            return bool(found["low"] > 0)
        found = self.rows.get((encoder, metric, "shuffled", "gold"))
        return None if found is None else bool(found["high"] < 0)

    def _place(self, column: Column, row: Row) -> tuple[str, str]:
        role = column.encoder or row.encoder
        return self.encoders.get(role, role), column.method or row.method

    @staticmethod
    def _metric(column: Column, row: Row) -> str:
        # What is kept of a score orders rows as the score does.
        metric = row.metric or column.metric
        if metric.startswith("kept_"):
            return metric.removeprefix("kept_")
        return {"distinct_auc": "generated_auc"}.get(metric, metric) if not column.variant else ""

    def _p(self, encoder: str, metric: str, method: str, other: str) -> float:
        for key in ((encoder, metric, method, other), (encoder, metric, other, method)):
            if key in self.rows:
                return float(self.rows[key]["p"])
        return math.nan


Contest = Sequence[tuple[Row, Cell]]


def mark(column: Column, contest: Contest, marks: Marks, evidence: Evidence | None) -> str:
    """Mark the cells of one contest, the ranked rows of a column that have a value; return what the marks rest on.

    By means, the best and the second-best *printed* number are marked, so rows that print the same number share a
    mark. By evidence, "below" goes to every row whose difference to the best has a Holm-adjusted p below ``LEVEL``,
    "ns" to the others but the best. Nothing is marked where a test is missing, where the references are not
    distinguishable, or where no row is below.
    """
    if len(contest) < 2:
        return ""
    if marks == "paper":
        _mark_by_means(column, contest)
        return BY_MEANS
    best, _ = (max if column.direction == "up" else min)(contest, key=lambda entry: entry[1].value)
    p = [math.nan if evidence is None else evidence.p(column, row, best) for row, _ in contest]
    separated = None if evidence is None else evidence.separates(column, best)
    if any(map(math.isnan, p)) or separated is None:
        return UNTESTED
    if not separated:
        return TOGETHER
    # The best row is not tested against itself.
    adjusted = iter(holm([value for (row, _), value in zip(contest, p, strict=True) if row is not best]))
    equal = [row is best or next(adjusted) >= LEVEL for row, _ in contest]
    if all(equal):
        return EVEN
    for (row, cell), tied in zip(contest, equal, strict=True):
        cell.mark = "below" if not tied else "" if row is best else "ns"
    return BY_EVIDENCE


def _mark_by_means(column: Column, contest: Contest) -> None:
    numbers = [Decimal(printed(cell.value, column.decimals)) for _, cell in contest]
    ranks = sorted(set(numbers), reverse=column.direction == "up")
    for number, (_, cell) in zip(numbers, contest, strict=True) if len(ranks) > 1 else ():
        cell.mark = {ranks[0]: "best", ranks[1]: "second"}.get(number, "")


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
    notes += [text.format(below=below) for name, text in NOTES.items() if (ranked["marking"] == name).any()]
    whole = ranked["column"].nunique()
    for reason, rows in ranked[~ranked["marking"].isin(list(NOTES))].groupby("marking", sort=False):
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
