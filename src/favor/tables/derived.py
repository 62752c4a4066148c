"""Cells that are not a mean of one metric: ranges, and how many evaluators agree. Used by table specifications."""

import math
from dataclasses import dataclass

from favor.paper.names import encoder_name
from favor.scores.metric import label_of
from favor.tables.cells import DASH
from favor.tables.escape import minus
from favor.tables.specs import Derive, Derived, Roles, Row, Scores

EXTERNAL = ("minilm", "styledistance", "stylometry")  # evaluators that trained no method, in the paper's order


@dataclass(frozen=True)
class Agreement:
    """Evaluators that place one method above another; ``reason`` names those that could not be asked."""

    supporting: tuple[str, ...]
    compared: int
    reason: str


def missing(reason: str) -> Derived:
    return Derived(DASH, reason=reason)


def score_of(scores: Scores, metric: str, variant: str = "", absent: str = "", **keys: str) -> tuple[float, int, str]:
    """Return value, n and note of a metric's first score with these ``keys`` (method, encoder).

    Where there is none, the note is ``absent``, or that the metric was not scored.
    """
    for key, wanted in {"metric": metric, "variant": variant, **keys}.items():
        scores = scores[scores[key] == wanted]
    if scores.empty:
        return math.nan, 0, absent or f"{label_of(metric)} was not scored"
    value, n, note = scores[["value", "n", "note"]].iloc[0]
    return float(value), int(n), str(note)


def row_values(scores: Scores, metric: str, variant: str = "") -> list[float]:
    rows = scores[(scores["metric"] == metric) & (scores["variant"] == variant)]
    return [float(value) for value in rows["value"]]


def audit_column(metric: str, decimals: int, percent: bool = False) -> Derive:
    """Return what computes a column of the human audit, which pools all seeds: the one score of the row's method.

    Behind it stand its limits, where it has any. Beside the overall count of annotators a reason says how many of those
    asked have answered, and how many attention checks each has passed.
    """

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        absent = f"{row.label} is not part of the audit"
        value, count, note = score_of(scores, metric, "", absent, method=row.method)
        if note:
            return missing(note)
        ends = [score_of(scores, metric, end, method=row.method)[0] for end in ("low", "high")]
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
        text, low, high = (f"{each:.{decimals}{'%' if percent else 'f'}}" for each in (value, *ends))
        text += "" if math.isnan(ends[0]) else f" [{low}, {high}]"
        return Derived(minus(text), value, "; ".join(remarks))

    return derive


def spread(scores: Scores, metric: str) -> Derived:
    """Return the smallest and the largest value of a count over seeds and methods, as one where they are equal."""
    values = row_values(scores, metric)
    if not values:
        return missing(f"{label_of(metric)} was not scored")
    low, high = (f"{value:.0f}" for value in (min(values), max(values)))
    return Derived(low if low == high else f"{low}–{high}")


def agreement(scores: Scores, roles: Roles, left: str, right: str) -> Agreement:
    """Compare the mean generated-source AUC over seeds of two methods in every external evaluator's space."""
    supporting, absent = [], []
    for role in EXTERNAL:
        rows = scores[
            (scores["metric"] == "generated_source_auc")
            & (scores["variant"] == "")
            & (scores["encoder"] == roles.get(role, role))
        ]
        by_seed = rows.pivot(index="seed", columns="method", values="value").reindex(columns=[left, right]).dropna()
        means = by_seed.mean()
        if by_seed.empty:
            absent.append(encoder_name(role))
        elif means[left] > means[right]:
            supporting.append(role)
    reason = f"no scores of both methods by {', '.join(absent)}" if absent else ""
    return Agreement(tuple(supporting), len(EXTERNAL) - len(absent), reason)
