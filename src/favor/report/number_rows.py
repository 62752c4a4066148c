"""The numbers of the running text as a table of the report."""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from favor.paper.settings import Entry
from favor.tables.cells import printed
from favor.tables.escape import minus

NUMBERS_TITLE = "Numbers of the running text"
NUMBERS_CAPTION = "The same formula on our tables and on the paper's; the difference is ours minus the paper's."


def number_rows(entries: Sequence[Entry]) -> tuple[pd.DataFrame, str]:
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
                "Ours": minus(f"{_grouped(entry['value'], places)}{ours and f' ({ours})'}"),
                "Paper": "–" if paper is None else minus(f"{_grouped(paper, places)}{beside and f' ({beside})'}"),
                "Difference": "–" if paper is None else minus(_grouped(entry["value"] - paper, places, signed=True)),
                "Where": entry["where"],
            }
        )
    absent = len(entries) - len(rows)
    sentence = f"{absent} further numbers have no value in this experiment; numbers.json gives the reason of each."
    return pd.DataFrame(rows, columns=["Number", "Ours", "Paper", "Difference", "Where"]), sentence if absent else ""


def _grouped(value: float, decimals: int, signed: bool = False) -> str:
    """Return ``value`` as tables print it, with commas between thousands.

    A value, but not a difference, that would be printed as 0.00 has two significant digits.
    """
    text = printed(value, decimals, signed)
    if value and not float(text) and not signed:
        return f"{value:.2g}"
    return re.sub(r"(?<=\d)(?=(?:\d{3})+(?:\.|$))", ",", text) if abs(value) >= 10_000 else text


def number_macros(written: Mapping[str, Sequence[Entry]]) -> str:
    r"""Return LaTeX macros for the numbers of every experiment that have a value, to be ``\input``.

    ``written``: the content of numbers.json. The number ``external_auc_gain`` of experiment ``demo`` is
    ``\FavorDemoExternalAucGain``; digits are spelt, as LaTeX takes none in a name.
    """
    lines = ["% Made by the workflow; input it and write the numbers by name."]
    for name, entries in written.items():
        for entry in entries:
            if entry["value"] is not None:
                value = printed(entry["value"], entry["decimals"])
                text = f"$-${value[1:]}" if value.startswith("-") else value
                lines.append(rf"\newcommand{{\Favor{_letters(name)}{_letters(entry['key'])}}}{{{text}}}")
    return "\n".join(lines) + "\n"


_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def _letters(name: str) -> str:
    words = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))
    return re.sub(r"\d", lambda digit: _DIGITS[int(digit[0])], words)
