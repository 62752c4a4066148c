"""Cells of the privacy tables: an attack's statistic in a view, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from favor.tables.cells import printed
from favor.tables.derived import missing
from favor.tables.specs import Derived, Row

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

UPLOADS, MEAN, FINAL, STOLEN = "each upload", "mean of the round", "final shared adapter", "stolen personal adapter"
COMPLETED = "each upload, beside its owner's other half (upper bound)"
VIEWS = {"upload": UPLOADS, "completed": COMPLETED, "mean": MEAN, "final": FINAL, "personal": STOLEN}
# Printed attack, metrics, and the views that it has.
ATTACKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Whose is it?", "sender", ("upload", "completed", "personal")),
    ("Same client as before?", "link", ("upload",)),
    ("Did the author take part?", "member", ("mean", "final", "personal")),
    ("Was the text trained on?", "text", ("upload", "completed", "mean", "final", "personal")),
    ("The same by Min-K%++", "text_least", ("upload", "completed", "mean", "final", "personal")),
)


def methods_of(scores: pd.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return the rows that have a score of ``metrics``, in name order."""
    return sorted(set(scores.loc[scores["metric"].isin(list(metrics)), "method"]))


def views_of(scores: pd.DataFrame, method: str, metric: str, views: Sequence[str]) -> list[str]:
    """Return those of ``views`` that a row has: an upload is completed only where it changes nothing alone."""
    own = scores[(scores["method"] == method) & (scores["metric"] == metric)]["variant"]
    completed = own.str.startswith("completed").any()
    return [view for view in views if view != "completed" or completed]


def score_of(scores: pd.DataFrame, method: str, metric: str, variant: str) -> tuple[float, int, str]:
    """Return value, number of decisions and note of one score; the note says so where there is none."""
    found = scores[(scores["method"] == method) & (scores["metric"] == metric) & (scores["variant"] == variant)]
    if found.empty:
        return float("nan"), 0, "this attack has no such statistic"
    value, n, note = found[["value", "n", "note"]].iloc[0]
    return float(value), int(n), str(note)


def attack_column(
    name: Callable[[Row], tuple[str, str] | None], suffix: str = "", decimals: int = 2, interval: bool = False
) -> Callable[..., Derived]:
    """Return what computes a column: the score that ``name`` finds for a row (metric and view), of variant suffix."""

    def derive(row: Row, scores: pd.DataFrame, _roles: Mapping[str, str]) -> Derived:
        asked = name(row)
        if asked is None:
            return missing("this attack has no such statistic")
        value, _, note = score_of(scores, row.method, asked[0], f"{asked[1]}{suffix}")
        if note:
            return missing(note)
        text = printed(value, decimals).replace("-", "−")
        if interval:
            low, high = (score_of(scores, row.method, asked[0], f"{asked[1]}_{end}")[0] for end in ("low", "high"))
            if not math.isnan(low):
                text += f" [{', '.join(printed(end, decimals).replace('-', '−') for end in (low, high))}]"
        return Derived(text, value)

    return derive
