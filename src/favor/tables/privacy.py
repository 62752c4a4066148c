"""Cells of the privacy tables: an attack's statistic in a view, with its interval."""

import math
from collections.abc import Callable, Sequence

from favor.tables.cells import printed
from favor.tables.derived import missing, score_of
from favor.tables.escape import minus
from favor.tables.specs import Derive, Derived, Roles, Row, Scores

NO_STATISTIC = "this attack has no such statistic"
VIEWS = {
    "upload": "each upload",
    "completed": "each upload, beside its owner's other half (upper bound)",
    "mean": "mean of the round",
    "final": "final shared adapter",
    "personal": "stolen personal adapter",
}
# Printed attack, metrics, and the views that it has.
ATTACKS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Whose is it?", "sender", ("upload", "completed", "personal")),
    ("Same client as before?", "link", ("upload",)),
    ("Did the author take part?", "member", ("mean", "final", "personal")),
    ("Was the text trained on?", "text", ("upload", "completed", "mean", "final", "personal")),
    ("The same by Min-K%++", "text_least", ("upload", "completed", "mean", "final", "personal")),
)


def methods_of(scores: Scores, metrics: Sequence[str]) -> list[str]:
    """Return the rows that have a score of ``metrics``, in name order."""
    return sorted(set(scores.loc[scores["metric"].isin(list(metrics)), "method"]))


def views_of(scores: Scores, method: str, metric: str, views: Sequence[str]) -> list[str]:
    """Return those of ``views`` that a row has: an upload is completed only where it changes nothing alone."""
    own = scores[(scores["method"] == method) & (scores["metric"] == metric)]["variant"]
    completed = own.str.startswith("completed").any()
    return [view for view in views if view != "completed" or completed]


def attack_column(
    name: Callable[[Row], tuple[str, str] | None], suffix: str = "", decimals: int = 2, interval: bool = False
) -> Derive:
    """Return what computes a column: a row's score of the metric and view that ``name`` gives, with its ``suffix``."""

    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        asked = name(row)
        if asked is None:
            return missing(NO_STATISTIC)
        metric, view = asked
        value, _, note = score_of(scores, metric, f"{view}{suffix}", NO_STATISTIC, method=row.method)
        if note:
            return missing(note)
        text = printed(value, decimals)
        if interval:
            low, high = (score_of(scores, metric, f"{view}_{end}", method=row.method)[0] for end in ("low", "high"))
            text += "" if math.isnan(low) else f" [{printed(low, decimals)}, {printed(high, decimals)}]"
        return Derived(minus(text), value)

    return derive
