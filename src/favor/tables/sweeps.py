"""Tables over the points of a sweep: several experiments that differ in one setting, a row (or several) for each."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from favor.tables.build import CellSource, fill, rows_of
from favor.tables.cells import Cell, printed
from favor.tables.escape import minus
from favor.tables.marks import Evidence
from favor.tables.remarks import EvaluationPosts, cautioned, with_remarks
from favor.tables.settings import TablePoint
from favor.tables.specs import POINT, Column, Context, Panel, Row, TableSpec


def at_points(spec: TableSpec, points: Sequence[TablePoint]) -> TableSpec:
    """Return ``spec`` with its rows once for every point, grouped by point where each has several.

    Rows of the spread over points come last, where the specification has them and there are two points or more.
    """
    if spec.spread and len(points) > 1:
        points = [*points, TablePoint(label=spec.spread, experiment=points[0].experiment)]
    rows = tuple(_at(row, point, grouped=len(spec.rows) > 1) for point in points for row in spec.rows)
    return replace(spec, rows=rows)


def _at(row: Row, point: TablePoint, grouped: bool) -> Row:
    stub = tuple(part.replace(POINT, point.label) for part in row.stub)
    paper = (row.paper or row.label).replace(POINT, point.paper or point.label)
    return replace(row, stub=stub, paper=paper, point=point.label, group=point.label if grouped else row.group)


def with_remarks_of_points(
    spec: TableSpec, points: Sequence[TablePoint], contexts: Mapping[str, Context], posts: Mapping[str, EvaluationPosts]
) -> TableSpec:
    """Return ``spec`` with what is to be said below it of every point; ``posts``: by experiment.

    A sentence that does not hold for all points begins with those for which it does.
    """
    told = {
        point.label: with_remarks(
            spec, posts[point.experiment], contexts[point.experiment].remarks, contexts[point.experiment].clients
        )
        for point in points
    }
    remarks: dict[str, str] = {}
    for name in dict.fromkeys(name for one in told.values() for name in one.remarks):
        where: dict[str, list[str]] = {}
        for label, one in told.items():
            if text := one.remarks.get(name):
                where.setdefault(text, []).append(label)
        remarks[name] = " ".join(_of_points(where, points))
    panels = next((one.panels for one in told.values() if one.panels != spec.panels), spec.panels)
    return replace(spec, remarks=remarks, panels=panels)


def cautioned_at_points(
    spec: TableSpec,
    points: Sequence[TablePoint],
    retrieval: Mapping[str, pd.DataFrame],
    roles: Mapping[str, Mapping[str, str]],
    titles: Mapping[str, str],
) -> TableSpec:
    """Return ``spec`` with the sentences on encoders of every point before its caption (:func:`cautioned`).

    ``retrieval`` and ``roles``: by experiment, of those that have the former.
    """
    told: dict[str, list[str]] = {}
    for point in points:
        if point.experiment in retrieval:
            own = cautioned(spec, retrieval[point.experiment], roles[point.experiment], titles)
            told.setdefault(own.caption.removesuffix(spec.caption).strip(), []).append(point.label)
    return replace(spec, caption=" ".join([*(_of_points(told, points)), spec.caption]))


def _of_points(told: Mapping[str, list[str]], points: Sequence[TablePoint]) -> list[str]:
    """Return sentences, each after the labels of the points that it is about unless it is about all."""
    return [
        text if len(labels) == len(points) else f"{', '.join(labels)}: {text}" for text, labels in told.items() if text
    ]


def build_sweep(
    spec: TableSpec,
    points: Sequence[TablePoint],
    scores: pd.DataFrame,
    contexts: Mapping[str, Context],
    paper: pd.DataFrame | None = None,
    comparisons: Mapping[str, pd.DataFrame] | None = None,
    evidence: Mapping[str, pd.DataFrame] | None = None,
) -> pd.DataFrame:
    """Return the ``table_cells`` of ``spec`` over ``points``.

    ``scores``: table ``sweep_scores``. ``contexts``, ``comparisons`` and ``evidence``: by experiment. Marks rest on a
    point's own evidence, where rows are ranked within points; no test spans experiments. A row of a method that a
    point's experiment does not run is left out; a row of comparisons stays, as a dash with the reason.
    """
    filled: list[tuple[Row, CellSource]] = []
    for point in points:
        own = scores[scores["point"] == point.label].drop(columns=["point", "experiment"])
        context, compared = contexts[point.experiment], (comparisons or {}).get(point.experiment)
        differing = (evidence or {}).get(point.experiment)
        filled += rows_of(at_points(spec, [point]), own, context, compared, differing)
    if spec.spread and len(points) > 1:
        filled += _spread_rows(spec, filled)
    return fill(spec, filled, contexts[points[0].experiment], paper)


def _spread_rows(spec: TableSpec, filled: Sequence[tuple[Row, CellSource]]) -> list[tuple[Row, CellSource]]:
    """Return a row for each that stands once per point, with what its cells are over the points."""
    of_points: dict[tuple[str, str, str], list[tuple[Row, CellSource]]] = {}
    for row, source in filled:
        of_points.setdefault((row.method, row.encoder, row.metric), []).append((row, source))
    place = spec.rows[0].stub.index(POINT)
    made: list[tuple[Row, CellSource]] = []
    for rows in of_points.values():
        first = rows[0][0]
        stub = (*first.stub[:place], spec.spread, *first.stub[place + 1 :])
        made.append((replace(first, stub=stub, point=spec.spread, ranked=False), _OverPoints(rows)))
    return made


@dataclass
class _OverPoints:
    """The cells of one row over the points: the mean, and the sample standard deviation between points."""

    rows: Sequence[tuple[Row, CellSource]]
    evidence: Evidence | None = None  # no test spans experiments

    def scored(self, _row: Row, panel: Panel) -> bool:
        """Return whether the row has a score at any point."""
        return any(source.scored(own, panel) for own, source in self.rows)

    def cell(self, row: Row, column: Column) -> Cell:
        """Return the cell over the points that have a value."""
        cells = [source.cell(own, column) for own, source in self.rows]
        values = [cell.value for cell in cells if not math.isnan(cell.value)]
        if len(values) < 2:
            reasons = [cell.reason for cell in cells if cell.reason]
            return Cell(reason=reasons[0] if reasons else "fewer than two points have a value")
        mean, deviation = statistics.fmean(values), statistics.stdev(values)
        decimals = column.decimals if row.decimals is None else row.decimals
        text = minus(f"{printed(mean, decimals, column.signed)} ± {printed(deviation, decimals)}")
        missing = f"over {len(values)} of {len(cells)} points" if len(values) < len(cells) else ""
        return Cell(mean, deviation, len(values), text, missing)
