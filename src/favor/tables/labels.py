"""What a table's metrics say of themselves: which way is better, and what a row of paired tests is called.

Specifications are read while the workflow is parsed, when no metric is imported; jobs complete them here.
"""

from dataclasses import replace

from favor.scores.metric import Metric, metrics_of
from favor.tables.specs import METRIC, Column, Direction, Row, TableSpec, load_spec

DIRECTIONS: dict[str, Direction] = {"higher": "up", "lower": "down", "none": ""}


def printed_spec(label: str) -> TableSpec:
    """Return the specification of table ``label`` as it is printed. Raises ``UserError`` for an unknown label."""
    return labelled(load_spec(label))


def labelled(spec: TableSpec) -> TableSpec:
    """Return ``spec`` with the direction of every column of scores, and the metrics' names in rows of paired tests.

    A column that prints a statistic of a comparison, or always the same method, ranks nothing. A column of a metric
    that no family of ``spec.sources`` declares raises ``KeyError``: its scores would not be there either.
    """
    metrics = {metric.name: metric for family in spec.families for metric in metrics_of(family)}
    panels = tuple(
        replace(panel, columns=tuple(_directed(column, metrics) for column in panel.columns)) for panel in spec.panels
    )
    return replace(spec, rows=tuple(_named(row, metrics) for row in spec.rows), panels=panels)


def _directed(column: Column, metrics: dict[str, Metric]) -> Column:
    if column.statistic or column.method or column.metric.startswith("@") or not column.metric:
        return column
    return replace(column, direction=DIRECTIONS[metrics[column.metric].direction])


def _named(row: Row, metrics: dict[str, Metric]) -> Row:
    if METRIC not in row.stub:
        return row
    metric = metrics[row.metric]
    return replace(
        row, stub=tuple((metric.paired_label or metric.label) if part == METRIC else part for part in row.stub)
    )
