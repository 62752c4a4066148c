"""The glossary of metrics: ``python -m favor.scores.glossary --write`` makes docs/metrics.md from what they declare."""

from __future__ import annotations

import sys

from favor.foundation.files import write_text
from favor.foundation.registry import METRIC_FAMILIES, PACKAGE_ROOT
from favor.scores.metric import Metric, metrics_of

PAGE = PACKAGE_ROOT.parent / "docs" / "metrics.md"
HEAD = """# Metrics

This page is made by `python -m favor.scores.glossary --write` from what the metrics declare
([extending.md](extending.md) shows how to add one). Higher or lower says which values are better; a dash means that the
value only describes. Metrics marked "pairs" have a value per output, so paired tests can compare two methods by them.
"""
TABLE_HEAD = ("| metric | printed as | range | better | unit | pairs | defined by |", "|---|---|---|---|---|---|---|")


def glossary() -> str:
    """Return the page: a table per metric family, in name order."""
    parts = [HEAD]
    for family in METRIC_FAMILIES.names():
        parts.append(f"## {family}\n\n{_first_line(METRIC_FAMILIES.load(family).__doc__)}\n")
        parts.append(
            "| metric | printed as | range | better | unit | pairs | defined by |\n|---|---|---|---|---|---|---|"
        )
        parts.append("\n".join(map(_row, metrics_of(family))) + "\n")
    return "\n".join(parts)


def _row(metric: Metric) -> str:
    span = f"{_bound(metric.minimum)} to {_bound(metric.maximum)}"
    better = {"none": "–"}.get(metric.direction, metric.direction)
    cells = (f"`{metric.name}`", metric.label, span, better, metric.unit, "yes" if metric.per_output else "")
    return f"| {' | '.join(cells)} | {metric.reference} |"


def _bound(value: float) -> str:
    return f"{value:g}".replace("inf", "∞").replace("-", "−")


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write_text(glossary(), PAGE)
    else:
        print(glossary())
