"""The values that the paper prints, shipped as one CSV file per table with the line of the source each stands on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from favor.paper.names import unmarked
from favor.paper.source import PAPER_COLUMNS

FOLDER = Path(__file__).parent / "paper_values"


def paper_labels() -> list[str]:
    """Return the labels of the tables whose values are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def load_paper_values(label: str) -> pd.DataFrame:
    """Return the paper's cells of table ``label``: panel, section, row, column, value, deviation, mark, text, line.

    Empty where the paper has no such table (a user's own). ``value`` and ``deviation`` are NaN where the paper
    prints text, or no deviation.
    """
    path = FOLDER / f"{label}.csv"
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
