"""The numbers of the running text as a table of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from favor.report.cells import printed
from favor.report.escape import minus

NUMBERS_TITLE = "Numbers of the running text"
NUMBERS_CAPTION = "The same formula on our tables and on the paper's; the difference is ours minus the paper's."


def number_rows(entries: Sequence[Mapping[str, Any]]) -> tuple[pd.DataFrame, str]:
    """Return the entries that have a value as printable strings, and the sentence about those that have none."""
    rows = []
    for entry in entries:
        if entry["value"] is None:
            continue
        paper, places = entry["paper"], entry["decimals"]
        ours, beside = entry.get("baseline", ""), entry.get("paper_baseline", "")
        rows.append(
            {
                "Number": entry["what"],
                "Ours": minus(f"{printed(entry['value'], places)}{ours and f' ({ours})'}"),
                "Paper": "–" if paper is None else minus(f"{printed(paper, places)}{beside and f' ({beside})'}"),
                "Difference": "–" if paper is None else minus(printed(entry["value"] - paper, places, signed=True)),
                "Where": entry["where"],
            }
        )
    absent = len(entries) - len(rows)
    sentence = f"{absent} further numbers have no value in this experiment; numbers.json gives the reason of each."
    return pd.DataFrame(rows, columns=["Number", "Ours", "Paper", "Difference", "Where"]), sentence if absent else ""
