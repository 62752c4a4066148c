"""One cell of a table before it is marked, and the cells of tables of comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from favor.paper.names import method_name
from favor.scores.metric import label_of
from favor.tables.specs import Column, Context, Row, Unit

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

    from favor.tables.cell_table import PrintedCell
    from favor.tables.marks import Evidence

DASH = "–"
SAME = "every resampling of authors gives this value, so it has no interval"
WIDEST = 2.0  # interval of a share that is printed: from -1, as far below nothing as the authors are above, to 1
NOT_APART = "not apart"  # a share of a range that may be empty
_SCALES: dict[str, tuple[tuple[float, str, int], ...]] = {
    "count": ((1e9, "G", 2), (1e6, "M", 2), (1e3, "k", 2), (1.0, "", 0)),
    "bytes": ((2.0**30, " GiB", 2), (2.0**20, " MiB", 1), (2.0**10, " KiB", 1), (1.0, " B", 0)),
    "seconds": ((3600.0, " hours", 2), (60.0, " minutes", 1), (1.0, " seconds", 1)),
}
NAN = float("nan")
_DIFFERENCES = ("delta", "interval", "author_interval", "author_delta_interval")


@dataclass
class Cell:
    """A value with its deviation, the seeds behind it, what is printed, why it is a dash, and its mark."""

    value: float = NAN
    deviation: float = NAN
    n: int = 0
    text: str = DASH
    reason: str = ""
    mark: str = ""


class ComparisonIndex:
    """The table ``comparisons`` by (left, right, encoder, metric), and why a row may be missing."""

    def __init__(self, comparisons: pd.DataFrame, context: Context) -> None:
        self.context = context
        self.evidence: Evidence | None = None  # a table of tests marks nothing
        keys = ["clusters", "left_method", "right_method", "encoder", "metric"]
        self.rows = {tuple(row[key] for key in keys): row for row in comparisons.to_dict("records")}

    def cell(self, row: Row, column: Column) -> Cell:
        statistic = str(column.statistic)
        clusters = "author" if statistic.startswith("author_") or statistic == "p_holm" else "seed-author"
        role, metric = column.encoder or row.encoder, column.metric or row.metric
        encoder = self.context.encoders.get(role, role)
        found = self.rows.get((clusters, row.method, row.rival, encoder, metric))
        if found is None:
            return Cell(reason=self._why(row, role, encoder, metric))
        if found["note"]:
            return Cell(reason=str(found["note"]))
        decimals = column.decimals if row.decimals is None else row.decimals
        if statistic in _DIFFERENCES:  # never "+0.000 [0.000, 0.001]"
            decimals = telling(decimals, *(found[end] for end in ("delta", "low", "high")))
        if statistic.endswith("interval"):
            low, high = (printed(found[end], decimals).replace("-", "−") for end in ("low", "high"))
            delta = printed(found["delta"], decimals, signed=True).replace("-", "−")
            lead = f"{delta} " if statistic == "author_delta_interval" else ""
            ends = "–" if math.isnan(found["low"]) else f"[{low}, {high}]"
            return Cell(n=int(found["n"]), text=f"{lead}{ends}")
        name = {"p": "p_exact" if found["test"] == "exact" else "p", "author_p": "p"}.get(statistic, statistic)
        value = float(found[name])
        if math.isnan(value):
            return Cell(reason=f"{column.label} is undefined here")
        small = name.startswith("p") and value < 0.001
        text = "<.001" if small else printed(value, decimals, column.signed)
        return Cell(value, NAN, int(found["n"]), text)

    def _why(self, row: Row, role: str, encoder: str, metric: str) -> str:
        for key in (row.method, row.rival, encoder, role, metric):
            if key in self.context.absences:
                return self.context.absences[key]
        for method in (row.method, row.rival):
            if method not in self.context.methods:
                return f"{method_name(method)} is not run in experiment {self.context.experiment}"
        if encoder not in self.context.encoders.values() and not any(key[3] == encoder for key in self.rows):
            return f"encoder {self.context.encoder_name(role)} is not part of experiment {self.context.experiment}"
        return f"{label_of(metric)} of single outputs was not computed in experiment {self.context.experiment}"


def without_value(note: str) -> str:
    """Return the text of a cell whose score has no value: a dash, or that the two references are not apart."""
    return NOT_APART if f"are {NOT_APART}:" in note else DASH


def printed(value: float, decimals: int, signed: bool = False) -> str:
    """Return ``value`` with ``decimals`` places, never "-0", with a plus sign if ``signed``."""
    text = f"{value:.{decimals}f}"
    if Decimal(text) == 0:
        text = text.removeprefix("-")
    return f"+{text}" if signed and not text.startswith("-") else text


def printed_quantity(value: float, unit: Unit) -> str:
    """Return a count, bytes or seconds in the unit a reader thinks in: 29.93M, 114.3 MiB, 4.40 hours."""
    factor, name, decimals = _scale(value, unit)
    return f"{value / factor:.{decimals}f}{name}"


def printed_deviation(value: float, deviation: float, decimals: int, unit: Unit = "") -> str:
    """Return a deviation in the scale that its mean is printed in; "" where there is none.

    A count or a size that is the same for every seed has none. "33.68k ± 1.46k": beside a count without a unit of its
    own, a deviation without the k would be read as 1.46.
    """
    if math.isnan(value) or math.isnan(deviation) or (unit and not deviation):
        return ""
    if not unit:
        return printed(deviation, decimals)
    factor, name, decimals = _scale(value, unit)
    return printed(deviation / factor, decimals) + (name if unit == "count" else "")


def telling(decimals: int, *values: float) -> int:
    """Return the decimals that show the larger of ``values`` with two digits: at least ``decimals``, never over 6."""
    largest = max((abs(value) for value in values if value), default=1.0)
    return min(6, max(decimals, 1 - math.floor(math.log10(largest))))


def printed_paper(cell: PrintedCell, column: Column) -> tuple[str, str]:
    """Return what the paper prints in a cell, and ours minus the paper's; "" for what there is not.

    Differences of p-values, counts and quantities mean nothing and are not printed.
    """
    value, paper = cell["value"], cell["paper_value"]
    if math.isnan(paper):
        return cell["paper_text"], ""
    text = printed_quantity(paper, column.unit) if column.unit else printed(paper, column.decimals, column.signed)
    if math.isnan(value) or not column.compared or not column.decimals or column.unit:
        return text, ""
    return text, printed(value - paper, column.decimals, signed=True)


def _scale(value: float, unit: Unit) -> tuple[float, str, int]:
    scales = _SCALES[unit]
    return next((scale for scale in scales if value >= scale[0]), scales[-1])
