"""The table of printed cells, and its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from favor.foundation.tables import FLOAT, INT32, INT64, STRING, Column, Table

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

TABLE_CELLS = Table(
    "table_cells",
    (
        Column("panel", STRING, "", "panel of the table"),
        Column("section", STRING, "", "section of the table, such as the corpus"),
        Column("row", STRING, "", "row label"),
        Column("column", STRING, "", "column label"),
        Column("order", INT32, "", "reading order of the cell"),
        Column("value", FLOAT, "", "mean over seeds"),
        Column("deviation", FLOAT, "", "sample standard deviation over seeds; NaN with one seed"),
        Column("n", INT64, "", "seeds behind the value"),
        Column("mark", STRING, "", "below (the best, significantly), ns, best, second or empty"),
        Column("marking", STRING, "", "evidence behind the marks of the column, or why nothing is marked"),
        Column("text", STRING, "", "the cell as printed, without markup"),
        Column("reason", STRING, "", "why the cell is a dash; empty otherwise"),
        Column("paper_value", FLOAT, "", "value the paper prints; NaN where it prints none"),
        Column("paper_deviation", FLOAT, "", "deviation the paper prints; NaN where it prints none"),
        Column("paper_text", STRING, "", "what the paper prints where that is not a number; empty otherwise"),
    ),
    ("order",),
)


def rows_of_cells(cells: pd.DataFrame) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield (section, row label, cells) of every row of one panel, in reading order.

    A row ends where its label changes or its columns begin again, so rows with one label stay apart.
    """
    line: list[dict[str, Any]] = []
    for record in cells.to_dict("records"):
        cell = {str(name): value for name, value in record.items()}
        names = {other["column"] for other in line}
        if line and (cell["column"] in names or any(cell[key] != line[0][key] for key in ("section", "row"))):
            yield line[0]["section"], line[0]["row"], line
            line = []
        line.append(cell)
    if line:
        yield line[0]["section"], line[0]["row"], line
