"""Cells that are not a mean of one metric: ranges, paired differences, how many evaluators agree; for declarations."""

import math
from collections.abc import Mapping

from favor.paper.names import encoder_name
from favor.scores.metric import label_of
from favor.tables.cells import DASH, SAME, printed
from favor.tables.escape import minus
from favor.tables.specs import Derive, Derived, Roles, Row, Scores

EXTERNAL = ("minilm", "styledistance", "stylometry")  # evaluators that trained no method, in the paper's order


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


def agreement(scores: Scores, roles: Roles, left: str, right: str) -> tuple[list[str], int, str]:
    """Compare the mean generated-source AUC over seeds of two methods in every external evaluator's space.

    Returns the evaluators that place ``left`` above ``right``, how many were asked, and which could not be.
    """
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
    return supporting, len(EXTERNAL) - len(absent), reason


def signed(value: float) -> str:
    return printed(value, 3).replace("-", "−")


def difference(metric: str, rival: str, encoder: str = "", variant: str = "") -> Derive:
    """Return what computes a column: the row's value minus that of the row ``rival``, p over what the column prints.

    encoder: role or key, "" for a metric of none.
    """

    def derive(row: Row, scores: Scores, roles: Roles) -> Derived:
        if row.method == rival:
            return missing("the method that the others are compared with")
        own = scores[(scores["metric"] == metric) & (scores["encoder"] == roles.get(encoder, encoder))]
        keys = zip(own["method"].astype(str), own["variant"].astype(str), strict=True)
        found = dict(zip(keys, zip(own["value"].astype(float), own["note"].astype(str), strict=True), strict=True))
        prefix = f"{variant}_minus:".lstrip("_")
        key, sign = (row.method, f"{prefix}{rival}"), 1.0
        if key not in found:
            key, sign = (rival, f"{prefix}{row.method}"), -1.0
        value, note = found.get(key, (float("nan"), f"{label_of(metric)} was not compared"))
        if note:
            return missing(note)
        low, high = sorted(sign * found[key[0], f"{key[1]}_{end}"][0] for end in ("low", "high"))
        if low == high == value == 0:
            return Derived(signed(0.0), 0.0, SAME)
        p = _adjusted(found, rival, prefix)[row.method]
        told = "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)
        # Authors who all differ by the same show no spread, of which a measure without bounds has no interval.
        ends = "" if math.isnan(low) else f" [{signed(low)}, {signed(high)}]"
        return Derived(f"{signed(sign * value)}{ends}, p {told}", sign * value)

    return derive


def _adjusted(found: Mapping[tuple[str, str], tuple[float, str]], rival: str, prefix: str) -> dict[str, float]:
    """Return Holm's p of every row against ``rival``: over the tests that the column prints."""
    from favor.statistics.paired import holm  # numpy, which is not loaded while the workflow is parsed

    tests = {}
    for (method, name), (value, _) in found.items():
        if name.startswith(prefix) and name.endswith("_p"):
            other = name.removeprefix(prefix).removesuffix("_p")
            if rival in (method, other):
                tests[other if method == rival else method] = value
    return dict(zip(tests, map(float, holm(list(tests.values()))), strict=True))
