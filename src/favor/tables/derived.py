"""Cells that are not a mean of one metric: ranges, and how many evaluators agree. Used by table specifications."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from favor.paper.names import encoder_name
from favor.tables.specs import Derived, Row

if TYPE_CHECKING:  # read while the workflow is parsed
    import numpy as np
    import pandas as pd

EXTERNAL = ("minilm", "styledistance", "stylometry")  # evaluators that trained no method, in the paper's order
DASH = "–"


@dataclass(frozen=True)
class Agreement:
    """Evaluators that place one method above another; ``reason`` names those that could not be asked."""

    supporting: tuple[str, ...]
    compared: int
    reason: str


def missing(reason: str) -> Derived:
    """Return a dash with its reason."""
    return Derived(DASH, reason=reason)


def row_values(scores: pd.DataFrame, metric: str, variant: str = "") -> np.ndarray:
    """Return every value of a metric, over seeds and methods."""
    rows = scores[(scores["metric"] == metric) & (scores["variant"] == variant)]
    values: np.ndarray = rows["value"].to_numpy(dtype=float)
    return values


def audit_column(metric: str, decimals: int, percent: bool = False) -> Callable[..., Derived]:
    """Return what computes a column of the human audit, which pools all seeds: the one score of the row's method.

    Behind it stand its limits, where it has any. Beside the overall count of annotators a reason says how many of those
    asked have answered, and how many attention checks each has passed.
    """

    def derive(row: Row, scores: pd.DataFrame, _roles: Mapping[str, str]) -> Derived:
        found = scores[(scores["method"] == row.method) & (scores["metric"] == metric)]
        if found.empty:
            return missing(f"{row.label} is not part of the audit")
        value, count, note = found.loc[found["variant"] == "", ["value", "n", "note"]].iloc[0]
        if note:
            return missing(str(note))
        by_variant = found.set_index("variant")["value"].to_dict()
        ends = [float(by_variant.get(end, math.nan)) for end in ("low", "high")]
        remarks = []
        if metric == "audit_annotators":
            if value < count:
                remarks.append(f"{value:.0f} of {count} annotators have answered")
            passed = scores[(scores["metric"] == "attention_checks_passed") & (scores["method"] == row.method)]
            each = [
                f"{name} {right:.0f} of {asked}" for name, right, asked in passed[["variant", "value", "n"]].to_numpy()
            ]
            if each:
                remarks.append(f"attention checks passed: {', '.join(each)}")
        text, low, high = (f"{each:.{decimals}{'%' if percent else 'f'}}".replace("-", "−") for each in (value, *ends))
        text += "" if math.isnan(ends[0]) else f" [{low}, {high}]"
        return Derived(text, float(value), "; ".join(remarks))

    return derive


def spread(scores: pd.DataFrame, metric: str) -> Derived:
    """Return the smallest and the largest value of a count over seeds and methods, as one where they are equal."""
    values = row_values(scores, metric)
    if not len(values):
        return missing(f"{metric} was not scored")
    low, high = (f"{value:.0f}" for value in (values.min(), values.max()))
    return Derived(low if low == high else f"{low}–{high}")


def agreement(scores: pd.DataFrame, roles: Mapping[str, str], left: str, right: str) -> Agreement:
    """Compare the mean generated-source AUC over seeds of two methods in every external evaluator's space."""
    supporting, absent = [], []
    for role in EXTERNAL:
        rows = scores[
            (scores["metric"] == "generated_source_auc")
            & (scores["variant"] == "")
            & (scores["encoder"] == roles.get(role, role))
        ]
        means = rows.groupby("method")["value"].mean().dropna()
        if not {left, right} <= set(means.index):
            absent.append(encoder_name(role))
        elif means[left] > means[right]:
            supporting.append(role)
    reason = f"no scores of both methods by {', '.join(absent)}" if absent else ""
    return Agreement(tuple(supporting), len(EXTERNAL) - len(absent), reason)
