"""Ours beside the paper's: differences of tables, the order of their methods, and the numbers of the running text."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from favor.paper.settings import Entry
from favor.tables.build import is_control
from favor.tables.cells import printed
from favor.tables.escape import minus
from favor.tables.specs import TableSpec

_KEYS = ["panel", "section", "group", "column"]
NUMBERS_TITLE = "Numbers of the running text"
NUMBERS_CAPTION = "The same formula on our tables and on the paper's; the difference is ours minus the paper's."


def agreement(spec: TableSpec, cells: pd.DataFrame) -> pd.DataFrame:
    """Return, for each column of ``spec``'s cells, how far the order of its rows agrees with the paper's.

    Rows are compared where the table ranks them: within what follows a row's first name (the encoder, the point) if
    ``spec.ranked_within`` says so. Of a table of comparisons the differences are compared, likewise; a table whose rows
    are metrics has no order to compare. Columns: panel, section, group (the encoder), column, n (rows with both values,
    controls left out), spearman (rho), kendall (tau-b), note (why a coefficient is NaN: fewer than three rows, or no
    variation). Columns the paper does not print are left out.
    """
    within = bool(spec.ranked_within or spec.comparisons)
    if spec.comparisons is not None:
        cells = cells[cells["column"].isin([c.label for p in spec.panels for c in p.columns if c.statistic == "delta"])]
    elif any(row.metric or row.setting for row in spec.rows):
        cells = cells.iloc[:0]
    grouped = cells.assign(group=[" · ".join(row.split(" · ")[1:]) if within else "" for row in cells["row"]])
    records = []
    for key, rows in grouped.groupby(_KEYS, sort=False):
        both = rows[rows["value"].notna() & rows["paper_value"].notna() & ~rows["row"].map(is_control).astype(bool)]
        if rows["paper_value"].notna().any():
            coefficients = _coefficients(both["value"].to_numpy(), both["paper_value"].to_numpy())
            records.append((*map(str, key), len(both), *coefficients))
    return pd.DataFrame(records, columns=[*_KEYS, "n", "spearman", "kendall", "note"])


def _coefficients(ours: np.ndarray, paper: np.ndarray) -> tuple[float, float, str]:
    if len(ours) < 3:
        return float("nan"), float("nan"), "fewer than three methods in common"
    if np.ptp(ours) == 0 or np.ptp(paper) == 0:
        return float("nan"), float("nan"), "all values are equal"
    return float(stats.spearmanr(ours, paper).statistic), float(stats.kendalltau(ours, paper).statistic), ""


def agreement_rows(agreements: pd.DataFrame) -> pd.DataFrame:
    """Return :func:`agreement` as printable strings."""
    names = [" · ".join(filter(None, key)) for key in agreements[_KEYS].itertuples(index=False, name=None)]
    shown = agreements[["n", "spearman", "kendall", "note"]].copy()
    shown["n"] = shown["n"].astype(str)
    for name in ("spearman", "kendall"):
        shown[name] = ["–" if math.isnan(value) else minus(f"{value:+.2f}") for value in shown[name]]
    shown.insert(0, "Column", names)
    return shown.set_axis(["Column", "Methods", "Spearman", "Kendall", "Note"], axis=1)


def number_rows(entries: Sequence[Entry]) -> tuple[pd.DataFrame, str]:
    """Return the entries that have a value as printable strings, and the sentence about those that have none.

    Claims are left out: the report's sentences and its first table have them.
    """
    rows = []
    for entry in entries:
        if entry["value"] is None or "claim" in entry:
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
    absent = sum(entry["value"] is None for entry in entries)
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
    ``\FavorDemoExternalAucGain``; digits are spelt, as LaTeX takes none in a name. Of a claim there are ``...Low``,
    ``...High`` and ``...P`` too.
    """
    lines = ["% Made by the workflow; input it and write the numbers by name."]
    for name, entries in written.items():
        for entry in entries:
            numbers = {"": entry["value"], "low": entry.get("low"), "high": entry.get("high"), "p": entry.get("p")}
            for part, number in numbers.items():
                if number is not None:
                    value = printed(number, entry["decimals"])
                    text = f"$-${value[1:]}" if value.startswith("-") else value
                    called = f"{_letters(name)}{_letters(entry['key'])}{_letters(part)}"
                    lines.append(rf"\newcommand{{\Favor{called}}}{{{text}}}")
    return "\n".join(lines) + "\n"


_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def _letters(name: str) -> str:
    words = "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))
    return re.sub(r"\d", lambda digit: _DIGITS[int(digit[0])], words)
