"""Cells of paired differences that a metric family has tested: the row minus one rival, with Holm's p.

The family writes a difference of every two rows once, as the left row's variant "minus:{right}" with "_low", "_high"
and "_p"; a further variant stands before it, as in "common_minus:{right}".
"""

import math
from collections.abc import Mapping

from favor.scores.metric import label_of
from favor.tables.cells import SAME, printed
from favor.tables.derived import missing
from favor.tables.specs import Derive, Derived, Roles, Row, Scores


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
