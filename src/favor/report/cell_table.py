"""The table of printed cells."""

from __future__ import annotations

from favor.foundation.tables import FLOAT, INT32, INT64, STRING, Column, Table

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
        Column("mark", STRING, "", "best, second or empty"),
        Column("text", STRING, "", "the cell as printed, without markup"),
        Column("reason", STRING, "", "why the cell is a dash; empty otherwise"),
        Column("paper_value", FLOAT, "", "value the paper prints; NaN where it prints none"),
        Column("paper_deviation", FLOAT, "", "deviation the paper prints; NaN where it prints none"),
        Column("paper_text", STRING, "", "what the paper prints where that is no number; empty otherwise"),
    ),
    ("order",),
)
