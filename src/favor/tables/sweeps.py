"""Tables over the points of a sweep: several experiments that differ in one setting, a row (or several) for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from favor.tables.build import fill, rows_of
from favor.tables.cautions import cautioned
from favor.tables.context import Context
from favor.tables.remarks import EvaluationPosts, with_remarks
from favor.tables.specs import POINT, Row, TableSpec


@dataclass(frozen=True)
class Point:
    """One point: its printed name, the name of its row in the paper's table, and the experiment behind it.

    ``value``: its place on the axis of the figure; None, its number in the order of points.
    """

    label: str
    experiment: str
    paper: str = ""
    value: float | None = None


def points_of(entries: Sequence[Mapping[str, object]]) -> list[Point]:
    """Return the points of a sweep's configuration; a point's name in the paper is its label unless it has another."""
    made = [Point(**entry) for entry in entries]  # type: ignore[arg-type]
    return [replace(point, paper=point.paper or point.label) for point in made]


def at_points(spec: TableSpec, points: Sequence[Point]) -> TableSpec:
    """Return ``spec`` with its rows once for every point, grouped by point where each has several."""
    rows = tuple(_at(row, point, grouped=len(spec.rows) > 1) for point in points for row in spec.rows)
    return replace(spec, rows=rows)


def _at(row: Row, point: Point, grouped: bool) -> Row:
    stub = tuple(part.replace(POINT, point.label) for part in row.stub)
    paper = (row.paper or row.label).replace(POINT, point.paper)
    return replace(row, stub=stub, paper=paper, point=point.label, group=point.label if grouped else row.group)


def with_remarks_of_points(
    spec: TableSpec, points: Sequence[Point], contexts: Mapping[str, Context], posts: Mapping[str, EvaluationPosts]
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
    points: Sequence[Point],
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


def _of_points(told: Mapping[str, list[str]], points: Sequence[Point]) -> list[str]:
    """Return sentences, each after the labels of the points that it is about unless it is about all."""
    return [
        text if len(labels) == len(points) else f"{', '.join(labels)}: {text}" for text, labels in told.items() if text
    ]


def build_sweep(
    spec: TableSpec,
    points: Sequence[Point],
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
    filled = []
    for point in points:
        own = scores[scores["point"] == point.label].drop(columns=["point", "experiment"])
        context, compared = contexts[point.experiment], (comparisons or {}).get(point.experiment)
        differing = (evidence or {}).get(point.experiment)
        filled += rows_of(at_points(spec, [point]), own, context, compared, differing)
    return fill(spec, filled, contexts[points[0].experiment], paper)
