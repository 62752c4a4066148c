"""The values that the paper prints, shipped as one CSV file per table: its rows and columns, its cells as printed.

The best of a column stands between ``**``, the second-best between ``_``. A file of several panels, or with one row per
corpus, says so in the columns ``panel`` and ``section``; a cell of another panel is empty.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from favor.foundation.registry import PACKAGE_ROOT
from favor.paper.names import unmarked

if TYPE_CHECKING:
    import pandas as pd

FOLDER = PACKAGE_ROOT / "favor" / "paper" / "paper_values"  # written by tools.paper_source.py from the paper's source
PLACE = ("panel", "section", "row")
PAPER_COLUMNS = (*PLACE, "column", "value", "deviation", "mark", "text")
SECTIONED = frozenset({"main_federated_results"})  # tables whose rows stand once per corpus
MARKS = {"best": "**", "second": "_", "": ""}
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?)(?: ± (\d+(?:\.\d+)?))?")


def paper_file(label: str) -> Path:
    """Return the file with the values of table ``label``; it need not exist."""
    return FOLDER / f"{label}.csv"


def load_paper_values(label: str) -> pd.DataFrame:
    """Return the paper's cells of table ``label`` (:func:`paper_cells`).

    Empty where the paper has no such table (a user's own).
    """
    path = paper_file(label)
    if not path.is_file():
        return paper_cells(())
    with path.open(encoding="utf-8", newline="") as file:
        return paper_cells(csv.DictReader(file))


def paper_cells(rows: Iterable[Mapping[str, str]]) -> pd.DataFrame:
    """Return the cells of a table's rows: panel, section, row, column, value, deviation, mark, text.

    ``value`` and ``deviation`` are NaN where the paper prints text, or no deviation.
    """
    import pandas as pd  # here, because the planner reads this module

    cells = []
    for row in rows:
        for column, printed in row.items():
            if printed and column not in PLACE:
                mark = next(mark for mark, sign in MARKS.items() if printed.startswith(sign))
                text = printed.strip("*_")
                number = _NUMBER.fullmatch(text)
                value, deviation = number.groups("nan") if number else ("nan", "nan")
                place = (row.get(part, "") for part in PLACE)
                cells.append((*place, column, float(value), float(deviation), mark, text))
    return pd.DataFrame(cells, columns=list(PAPER_COLUMNS))


def paper_cell(values: pd.DataFrame, panel: str, section: str, row: str, column: str) -> tuple[float, float, str]:
    """Return (value, deviation, text) of one cell: NaN where the paper prints no number there, and what it prints then.

    The text is "" of a number, a dash, and a cell that the paper does not have. Daggers in row names do not count.
    """
    match = values[
        (values["panel"] == panel)
        & (values["section"] == section)
        & (values["row"].map(unmarked) == unmarked(row))
        & (values["column"] == column)
    ]
    if match.empty:
        return float("nan"), float("nan"), ""
    value, deviation, text = match.iloc[0][["value", "deviation", "text"]]
    return value, deviation, "" if text == "–" or not math.isnan(value) else text
