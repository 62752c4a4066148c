"""The values that the paper prints, shipped as one CSV file per table with the line of the source each stands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from favor.paper.names import unmarked

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent / "paper_values"  # written by tools.paper_source.py from the paper's LaTeX source
PAPER_COLUMNS = ("panel", "section", "row", "column", "value", "deviation", "mark", "text", "line")
SECTIONED = frozenset({"main_federated_results"})  # tables whose rows stand once per corpus


def paper_labels() -> list[str]:
    """Return the labels of the tables whose values are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def paper_file(label: str) -> Path:
    """Return the file with the values of table ``label``; it need not exist."""
    return FOLDER / f"{label}.csv"


def load_paper_values(label: str) -> pd.DataFrame:
    """Return the paper's cells of table ``label``: panel, section, row, column, value, deviation, mark, text, line.

    Empty where the paper has no such table (a user's own). ``value`` and ``deviation`` are NaN where the paper
    prints text, or no deviation.
    """
    import pandas as pd  # here, because the planner reads this module

    path = paper_file(label)
    if not path.is_file():
        return pd.DataFrame(columns=list(PAPER_COLUMNS))
    text = dict.fromkeys(("panel", "section", "row", "column", "mark", "text"), str)
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""], "deviation": [""]})


def paper_cell(values: pd.DataFrame, panel: str, section: str, row: str, column: str) -> tuple[float, float]:
    """Return (value, deviation) of one cell; NaN where the paper has none. Daggers in row names do not count."""
    match = _match(values, panel, section, row, column)
    if match.empty:
        return float("nan"), float("nan")
    return float(match["value"].iloc[0]), float(match["deviation"].iloc[0])


def paper_text(values: pd.DataFrame, panel: str, section: str, row: str, column: str) -> str:
    """Return what the paper prints in one cell, such as an interval; "" where it has no such cell or prints a dash."""
    match = _match(values, panel, section, row, column)
    text = "" if match.empty else str(match["text"].iloc[0])
    return "" if text == "–" else text


def _match(values: pd.DataFrame, panel: str, section: str, row: str, column: str) -> pd.DataFrame:
    return values[
        (values["panel"] == panel)
        & (values["section"] == section)
        & (values["row"].map(unmarked) == unmarked(row))
        & (values["column"] == column)
    ]
