"""The table of printed cells, and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from favor.foundation.schemas import Column, Table

TABLE_CELLS = Table(
    "table_cells",
    ("order",),
    Column("panel", "string", "panel of the table"),
    Column("section", "string", "section of the table, such as the corpus"),
    Column("row", "string", "row label"),
    Column("column", "string", "column label"),
    Column("order", "int32", "reading order of the cell"),
    Column("value", "float64", "mean over seeds"),
    Column("deviation", "float64", "sample standard deviation over seeds; NaN with one seed"),
    Column("n", "int64", "seeds behind the value; in tables of tests and examples the pairs or prompts"),
    Column("mark", "string", "below (the best, significantly), ns, best, second or empty"),
    Column("marking", "string", "evidence behind the marks of the column, or why nothing is marked"),
    Column("text", "string", "the cell as printed, without markup"),
    Column("reason", "string", "note on the cell, or why it is a dash; may be empty"),
    Column("paper_value", "float64", "value the paper prints; NaN where it prints none"),
    Column("paper_deviation", "float64", "deviation the paper prints; NaN where it prints none"),
    Column("paper_text", "string", "what the paper prints where that is not a number; empty otherwise"),
)
PrintedCell = dict[Any, Any]  # one row of ``TABLE_CELLS``, by column


def rows_of_cells(cells: pd.DataFrame) -> Iterator[tuple[str, str, list[PrintedCell]]]:
    """Yield (section, row label, cells) of every row of one panel, in reading order.

    A row ends where its label changes or its columns begin again, so rows with one label stay apart.
    """
    line: list[PrintedCell] = []
    for cell in cells.to_dict("records"):
        names = {other["column"] for other in line}
        if line and (cell["column"] in names or (cell["section"], cell["row"]) != (line[0]["section"], line[0]["row"])):
            yield line[0]["section"], line[0]["row"], line
            line = []
        line.append(cell)
    if line:
        yield line[0]["section"], line[0]["row"], line
