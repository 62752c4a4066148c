"""Tables over the points of a sweep, experiments that differ in one setting; and the point that losses choose."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from favor.paper.names import short_method_name, unmarked
from favor.scores.validation import AUTHOR_LOSS, LOSS
from favor.tables.build import CellSource, cells_of, rows_of
from favor.tables.cells import Cell, printed
from favor.tables.completion import printed_spec
from favor.tables.derived import missing, score_of
from favor.tables.escape import minus
from favor.tables.marks import Evidence
from favor.tables.settings import PointLabel, TablePoint
from favor.tables.specs import POINT, Column, Context, Derived, Roles, Row, Scores, TableSpec

CHOSEN = "chosen"


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


def printed_at_points(label: str, points: Sequence[TablePoint], specs: Mapping[str, TableSpec]) -> TableSpec:
    """Return table ``label`` as it is printed over ``points``, from its ``specs`` of those experiments that add to it.

    A sentence that does not hold for all points begins with those for which it does.
    """
    plain = printed_spec(label)
    told = {point.label: specs[point.experiment] for point in points if point.experiment in specs}

    def said(texts: Mapping[str, str]) -> str:
        where: dict[str, list[str]] = {}
        for point, text in texts.items():
            where.setdefault(text, []).append(point)
        begin = {text: f"{', '.join(names)}: " if len(names) < len(points) else "" for text, names in where.items()}
        return " ".join(f"{names}{text}" for text, names in begin.items() if text)

    cautions = said({point: spec.caption.removesuffix(plain.caption).strip() for point, spec in told.items()})
    footnotes = {
        name: said({point: spec.footnotes.get(name, "") for point, spec in told.items()})
        for name in dict.fromkeys(name for spec in told.values() for name in spec.footnotes)
    }
    panels = next((spec.panels for spec in told.values() if spec.panels != plain.panels), plain.panels)
    caption = f"{cautions} {plain.caption}".strip()
    return replace(plain, caption=caption, footnotes=footnotes, panels=panels)


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
    return cells_of(spec, filled, contexts[points[0].experiment], paper)


def _spread_rows(spec: TableSpec, filled: Sequence[tuple[Row, CellSource]]) -> list[tuple[Row, CellSource]]:
    """Return one row for each that stands once per point; its cells summarise those of the points."""
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


@dataclass(frozen=True)
class Choice:
    """What is chosen for one row of a sweep: the label of a ``point``, or "" and the ``reason``."""

    point: str = ""
    reason: str = ""


def choices(scores: Scores, points: Sequence[PointLabel]) -> dict[str, Choice]:
    """Return the choice of every row that has validation losses at some point, by row.

    scores: table ``sweep_scores``, of which no other metric than the validation losses is read. The point of the lowest
    mean over authors is chosen, the first of equal ones. Nothing is chosen unless every point that runs the row has the
    loss of the same authors.
    """
    own = scores[scores["metric"] == AUTHOR_LOSS]
    asked = scores[scores["metric"] == LOSS]
    found: dict[str, Choice] = {}
    for method in dict.fromkeys(own["method"]):
        losses = {
            point.label: own[(own["method"] == method) & (own["point"] == point.label)].set_index("variant")["value"]
            for point in points
            if ((asked["method"] == method) & (asked["point"] == point.label)).any()
        }
        authors = {frozenset(values.index) for values in losses.values()}
        if len(losses) < 2:
            found[method] = Choice(reason="it runs at one point")
        elif len(authors) > 1:
            found[method] = Choice(reason="its points have the losses of different authors")
        else:
            found[method] = Choice(min(losses, key=lambda label: float(losses[label].mean())))
    return found


def chosen_points(found: Mapping[str, Choice], display: Mapping[str, str]) -> str:
    """Return which point is chosen for every row, as the page says it."""
    told = (f"{_name(row, display)}: {choice.point or f'none, as {choice.reason}'}" for row, choice in found.items())
    return "; ".join(told) or "none, as no row has validation losses in its training logs"


def with_choice(spec: TableSpec, scores: Scores, points: Sequence[PointLabel], display: Mapping[str, str]) -> TableSpec:
    """Return ``spec`` with validation losses beside its scores, the chosen ones marked, and a sentence that says so.

    A table whose rows are methods has one more column, another one for each method that its columns name. A table of
    paired tests has the sentence alone.
    """
    found = choices(scores, points)
    sentence = (
        "Chosen by the lowest mean loss on the clients' validation texts (nats per token, 95 % interval over authors), "
        f"without a look at any test text or score. {chosen_points(found, display)}."
    )
    spec = replace(spec, caption=f"{spec.caption} {sentence}")
    if spec.comparisons is not None:
        return spec
    named = {name for panel in spec.panels for column in panel.columns for name in (column.method, column.beside)}
    methods = [method for method in found if method in named]
    columns = [_column(found, method, f"{_name(method, display)} validation\nloss") for method in methods]
    if not named - {""}:
        columns = [_column(found, "", "Validation\nloss")]
    first = spec.panels[0]
    return replace(spec, panels=(replace(first, columns=(*first.columns, *columns)), *spec.panels[1:]))


def _column(found: Mapping[str, Choice], named: str, header: str) -> Column:
    def derive(row: Row, scores: Scores, _roles: Roles) -> Derived:
        method = named or row.method
        absent = f"{short_method_name(method)} is not run here"
        value, _, note = score_of(scores, LOSS, "", absent, method=method)
        if note:
            return missing(note)
        (low, _, alone), (high, _, _) = (score_of(scores, LOSS, end, method=method) for end in ("low", "high"))
        text = printed(value, 3) + ("" if alone else f" [{printed(low, 3)}, {printed(high, 3)}]")
        mark = f" ({CHOSEN})" if method in found and found[method].point == row.point else ""
        return Derived(text + mark, value)

    return Column(header, derive=derive, compared=False)


def _name(method: str, display: Mapping[str, str]) -> str:
    return unmarked(display.get(method, short_method_name(method)))
