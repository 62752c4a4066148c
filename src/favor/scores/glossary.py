"""The glossary of metrics: ``python -m favor.scores.glossary --write`` makes docs/metrics.md from what they declare."""

import argparse

from favor.foundation.files import write_text
from favor.foundation.registry import METRIC_FAMILIES, PACKAGE_ROOT
from favor.scores.metric import Metric, metrics_of

PAGE = PACKAGE_ROOT.parent / "docs" / "metrics.md"
HEAD = """# Metrics

This page is made by `python -m favor.scores.glossary --write` from what the metrics declare.
[Extending](extending.md) shows how to add one. "Better" says whether higher or lower values are better. A dash means
that the value only describes. Metrics marked "pairs" have a value per output, so paired tests can compare two methods
by them.
"""


def glossary() -> str:
    """Return the page: a table per metric family, in name order."""
    parts = [HEAD]
    for family in METRIC_FAMILIES.names():
        summary, _, _ = (METRIC_FAMILIES.load(family).__doc__ or "").partition("\n")
        parts.append(f"## {family}\n\n{summary}\n")
        parts.append(_table([_cells(metric) for metric in metrics_of(family)]) + "\n")
    return "\n".join(parts)


def _cells(metric: Metric) -> dict[str, str]:
    return {
        "metric": f"`{metric.name}`",
        "printed as": metric.label,
        "range": f"{_bound(metric.minimum)} to {_bound(metric.maximum)}",
        "better": {"none": "–"}.get(metric.direction, metric.direction),
        "unit": metric.unit,
        "pairs": "yes" if metric.per_output else "",
        "defined by": metric.reference,
    }


def _table(rows: list[dict[str, str]]) -> str:
    """Return a Markdown table without the columns that are empty in every row."""
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    lines = [columns, ["---"] * len(columns), *([row[column] for column in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bound(value: float) -> str:
    return f"{value:g}".replace("inf", "∞").replace("-", "−")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m favor.scores.glossary", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page instead of printing it")
    if parser.parse_args().write:
        write_text(glossary(), PAGE)
    else:
        print(glossary())
