"""From scores to table cells: means over seeds, deviations, marks, reasons, the paper's values beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import pandas as pd

from favor.paper.names import CONTROLS, METHODS, SEPARATOR, encoder_name, method_name, short_method_name
from favor.paper.values import paper_cell
from favor.scores.efficiency import METRICS as COUNTS
from favor.scores.metric import ALL_SEEDS, SOURCE, label_of
from favor.tables.cell_table import TABLE_CELLS, PrintedCell, rows_of_cells
from favor.tables.cells import (
    DASH,
    NAN,
    SAME,
    WIDEST,
    Cell,
    ComparisonIndex,
    printed,
    printed_deviation,
    printed_quantity,
    without_value,
)
from favor.tables.completion import method_rows_of
from favor.tables.escape import minus
from favor.tables.marks import Evidence, mark
from favor.tables.specs import Column, Context, Panel, Row, TableSpec

SEEDS = "@seeds"
_UNSEEDED = {*CONTROLS, SOURCE}  # no runs of the configuration
SPREAD = 3  # of fewer seeds no deviation is printed: it would look like a certainty
FEW = 10  # a score of fewer texts or pairs prints their number
_COUNTED = {metric.name for metric in COUNTS}  # what a run sends and takes rests on no sample of texts


class CellSource(Protocol):
    """The source of the cells of one experiment's rows.

    evidence: which of them differ.
    cell: unmarked.
    """

    evidence: Evidence | None

    def cell(self, row: Row, column: Column) -> Cell: ...


def build_table(
    spec: TableSpec,
    scores: pd.DataFrame,
    context: Context,
    paper: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    evidence: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the ``table_cells`` of ``spec`` for one experiment.

    ``scores``: rows of the table ``scores`` of every family in ``spec.sources``. ``paper``: the paper's cells
    (:func:`favor.paper.values.load_paper_values`), or None. ``comparisons``: the table of that name, where the
    specification declares any; its rows are printed even where a method is not run, as dashes with the reason.
    ``evidence``: the table of that name, on which marks rest (:mod:`favor.tables.marks`).

    A value is the mean over seeds that have one, its deviation the sample standard deviation (ddof = 1, NaN with one
    seed), which is printed from three seeds on. Rows of methods that the experiment does not run are left out; a cell
    without a value prints a dash and keeps its reason.
    """
    return cells_of(spec, rows_of(spec, scores, context, comparisons, evidence), context, paper)


def rows_of(
    spec: TableSpec,
    scores: pd.DataFrame,
    context: Context,
    comparisons: pd.DataFrame | None = None,
    evidence: pd.DataFrame | None = None,
) -> list[tuple[Row, CellSource]]:
    """Return the rows of ``spec`` that one experiment fills, each with the source of its cells."""
    index: _Index | ComparisonIndex
    index = _Index(scores, context) if comparisons is None else ComparisonIndex(comparisons, context)
    index.evidence = None if evidence is None else Evidence(evidence, context.encoders)
    return [(_named(row, context), index) for row in _rows(spec, context, index)]


def cells_of(
    spec: TableSpec, filled: Sequence[tuple[Row, CellSource]], context: Context, paper: pd.DataFrame | None
) -> pd.DataFrame:
    """Return the ``table_cells`` of ``spec`` for rows with the sources of their cells; ``context`` names the corpus."""
    section = context.dataset if spec.sectioned else ""
    records: list[dict[str, object]] = []
    for panel in spec.panels:
        shown = filled
        if spec.every_metric:  # has a panel per family, and no family scores every method
            shown = [(row, index) for row, index in filled if not isinstance(index, _Index) or index.scored(row, panel)]
        # By the row and not by its label: two rows with one label keep their own numbers.
        lines = [(row, index, [index.cell(row, column) for column in panel.columns]) for row, index in shown]
        marking = _mark(spec, panel, lines, context)
        for row, _, cells in lines:
            for column, cell in zip(panel.columns, cells, strict=True):
                records.append(
                    {
                        "panel": panel.title,
                        "section": section,
                        "row": row.label,
                        "column": column.label,
                        "order": len(records),
                        **cell.__dict__,
                        "marking": marking.get((column.label, _contest(spec, row)), "") if row.ranked else "",
                        **_paper_cell(spec, paper, context, panel, row, column),
                    }
                )
    return pd.DataFrame(records, columns=TABLE_CELLS.names)


def is_control(row: str) -> bool:
    return row.split(SEPARATOR)[0] in CONTROLS.values()


def ruled_rows(spec: TableSpec, cells: pd.DataFrame) -> Iterator[tuple[str, str, list[PrintedCell], bool]]:
    """Yield section, label and cells of every row of one panel, and whether another group than the last begins."""
    groups = {row.label: row.group for row in spec.rows}
    previous: tuple[str, str, bool] | None = None
    for section, row, line in rows_of_cells(cells):
        current = (section, groups.get(row, ""), is_control(row))
        yield section, row, line, previous not in (None, current)
        previous = current


def stub_cells(row: str, count: int) -> list[str]:
    """Return the ``count`` leading cells of the row of this label."""
    parts = row.split(SEPARATOR, count - 1) if count > 1 else [row]
    return parts + [""] * (count - len(parts))


def _rows(spec: TableSpec, context: Context, index: _Index | ComparisonIndex) -> list[Row]:
    if isinstance(index, ComparisonIndex):
        return list(spec.rows)
    if spec.every_metric:
        declared = method_rows_of(index.scores)
    else:
        declared = spec.rows if spec.row_source is None else spec.row_source(index.scores)
    rows = [row for row in declared if not row.method or row.method in _UNSEEDED or row.method in context.methods]
    required = {index.encoder(row.encoder) for row in rows if not row.optional}
    rows = [row for row in rows if not row.optional or index.encoder(row.encoder) in index.encoders - required]
    if spec.open_rows and spec.lists_methods:
        declared_methods = {row.method for row in rows}
        last = max((place for place, row in enumerate(rows) if row.method in METHODS), default=len(rows) - 1)
        rows[last + 1 : last + 1] = [
            Row((method_name(key, context.display),), method=key)
            for key in context.methods
            if key not in METHODS
            and key not in declared_methods
            and not (spec.collaborative and key in context.references)
        ]
    if spec.scored_only:
        rows = [row for row in rows if not row.method or row.method in index.seeds.index]
    if spec.with_controls and spec.lists_methods:
        # Each has one row, unless the table ranks within encoders.
        evaluators: dict[tuple[tuple[str, ...], str, int | None], None] = {((), "", None): None}
        if spec.ranked_within == "encoder":
            evaluators = {(row.stub[1:], row.encoder, row.encoder_place): None for row in spec.rows}
        rows += [
            Row((name, *stub), method=key, encoder=role, ranked=False, group="controls", encoder_place=place)
            for key, name in CONTROLS.items()
            for stub, role, place in evaluators
        ]
    return rows


def _named(row: Row, context: Context) -> Row:
    """Return a row under the configuration's names of its method and encoder, where these are not the paper's."""
    stub = list(row.stub)
    if row.rival:
        pair = [(short_method_name(key), context.display.get(key)) for key in (row.method, row.rival)]
        known, title = (" vs. ".join(names) for names in zip(*((name, own or name) for name, own in pair), strict=True))
    else:
        known, title = method_name(row.method), method_name(row.method, context.display)
        known = row.method if stub[0] == row.method else known
    if stub[0] == known:
        stub[0] = title
    if row.encoder_place is not None:
        title = context.encoder_name(row.encoder)
        # The paper's style encoder is its ASCE-A; any other one goes by its own name.
        if title != encoder_name(row.encoder) and (row.encoder, title) != ("style", encoder_name("asce_a")):
            stub[row.encoder_place] = title
    return row if stub == [*row.stub] else replace(row, stub=tuple(stub), paper=row.paper or row.label)


class _Index:
    """The scores by (method, encoder, metric, variant), and why one of them may be missing."""

    def __init__(self, scores: pd.DataFrame, context: Context) -> None:
        self.evidence: Evidence | None = None
        summary = seed_summary(scores).to_dict("records")
        self.summary = {tuple(row[key] for key in KEYS): row for row in summary}
        self.seeds = scores["seed"].where(scores["seed"] != ALL_SEEDS).groupby(scores["method"]).nunique()
        self.pooled = set(scores.loc[scores["seed"] == ALL_SEEDS, KEYS].itertuples(index=False, name=None))
        self.context = context
        self.scores = scores
        self.encoders = set(scores["encoder"])
        self.metrics = set(zip(scores["encoder"], scores["metric"], strict=True))

    def scored(self, row: Row, panel: Panel) -> bool:
        """Return whether any column of ``panel`` has a score of ``row``, be it a missing one with its note."""
        return any(self._key(row, column) in self.summary for column in panel.columns)

    def cell(self, row: Row, column: Column) -> Cell:
        key = method, _, metric, variant = self._key(row, column)
        if column.zero and column.zero == method:
            return Cell(reason=f"{row.label} is 0 here by definition")
        if setting := row.setting or column.setting:
            return self._setting(method, setting)
        if column.derive is not None:
            derived = column.derive(row, self.scores, self.context.encoders)
            return Cell(derived.value, text=derived.text, reason=derived.reason)
        if metric == SEEDS:
            count = int(self.seeds.get(method, 0))
            if not count:
                return Cell(reason=f"nothing was scored for {row.label}")
            return Cell(float(count), NAN, count, str(count))
        if rival := column.beside or column.minus:
            places = ((self.scores[KEYS] == (each, *key[1:])).all(axis=1) for each in (method, rival))
            seeds = [{*self.scores.loc[own & self.scores["value"].notna(), "seed"]} for own in places]
            if seeds[0] != seeds[1] and all(seeds):
                return self._under(seeds[0] & seeds[1]).cell(row, column)
        if column.beside:
            return self._pair(row, column)
        found = self.summary.get(key)
        if found is None:
            return Cell(reason=self._why(method, column.encoder or row.encoder, metric, row))
        value, deviation, count = float(found["mean"]), float(found["deviation"]), int(found["seeds"])
        if count == 0:
            note = str(found["note"]) or f"{label_of(metric)} is undefined for {row.label}"
            return Cell(text=without_value(note), reason=note)
        if column.minus:
            other = self.cell(row, replace(column, method=column.minus, minus=""))
            if math.isnan(other.value):
                return Cell(reason=other.reason)
            value, deviation = value - other.value, NAN
        decimals = column.decimals if row.decimals is None else row.decimals
        unit = row.unit or column.unit
        text = printed_quantity(value, unit) if unit else printed(value, decimals, column.signed)
        if column.deviation != "none" and count >= SPREAD:
            spread = printed_deviation(value, deviation, decimals, unit)
            text += f" ± {spread}" if spread else ""
        same = ""
        if column.interval:
            names = [f"{variant}_{end}".removeprefix("_") for end in ("low", "high")]
            ends = [self.summary.get((*key[:3], name)) for name in names]
            limits = [end["mean"] for end in ends if end is not None]
            if limits == [value, value]:
                text, same = minus(text), SAME
            elif any(map(math.isnan, limits)):
                text, same = minus(text), f"no interval: {next(str(end['note']) for end in ends if end is not None)}"
            elif limits or method not in CONTROLS:  # what chance gives is exact: it has none
                low, high = (printed(limit, decimals) for limit in limits)
                if metric.startswith("kept_") and limits[1] - limits[0] > WIDEST:
                    return Cell(text=DASH, reason=f"the interval, [{low}, {high}], is too wide to say anything")
                text = minus(f"{text} [{low}, {high}]")
        expected = 0 if key in self.pooled else len(self.context.seeds)
        partial = f"mean over {count} of {expected} seeds" if count < expected else ""
        few = 0 < int(found["n"]) < FEW and metric not in _COUNTED  # none stand behind what chance gives
        small = f"n = {int(found['n'])}{' in the smallest seed' if count > 1 else ''}" if few else ""
        return Cell(value, deviation, count, text, "; ".join(filter(None, (same, partial, small))))

    def _key(self, row: Row, column: Column) -> tuple[str, str, str, str]:
        role = column.encoder or row.encoder
        return column.method or row.method, self.encoder(role), row.metric or column.metric, column.variant

    def _under(self, seeds: set[int]) -> _Index:
        """Return the scores under ``seeds``, so that what is compared are means over the same ones."""
        if not seeds:
            return _Index(self.scores.assign(value=NAN, note="no seed has a value of both"), self.context)
        return _Index(self.scores[self.scores["seed"].isin(seeds)], self.context)

    def _pair(self, row: Row, column: Column) -> Cell:
        single = replace(column, beside="", signed=False)
        own, other = self.cell(row, single), self.cell(row, replace(single, method=column.beside))
        if math.isnan(own.value) or math.isnan(other.value):
            return Cell(reason=own.reason or other.reason)
        decimals = column.decimals if row.decimals is None else row.decimals
        difference = f" ({printed(own.value - other.value, decimals, signed=True)})" if column.signed else ""
        text = f"{own.text} / {other.text}{difference}".replace("-", "−")
        return Cell(n=min(own.n, other.n), text=text, reason=own.reason or other.reason)

    def _setting(self, method: str, name: str) -> Cell:
        value = self.context.settings.get(method, {}).get(name)
        if value is None:
            control = method in CONTROLS
            return Cell(reason="a reference has no configuration" if control else "does not apply to this method")
        if isinstance(value, bool):
            return Cell(text="✓" if value else "✗")
        if isinstance(value, str):
            return Cell(text=value)
        return Cell(text=f"{value:g}" if float(value).is_integer() else f"{value:.3g}")

    def encoder(self, role: str) -> str:
        return self.context.encoders.get(role, role)

    def _why(self, method: str, role: str, metric: str, row: Row) -> str:
        encoder = self.encoder(role)
        for key in (encoder, role, metric, method):
            if key and key in self.context.absences:
                return self.context.absences[key]
        if method and method not in self.context.methods and method not in self.seeds:
            return f"{method_name(method, self.context.display)} is not run in experiment {self.context.experiment}"
        if encoder and encoder not in self.encoders:
            return f"encoder {self.context.encoder_name(role)} is not part of experiment {self.context.experiment}"
        if (encoder, metric) not in self.metrics:
            return f"{label_of(metric)} was not computed in experiment {self.context.experiment}"
        return f"{label_of(metric)} has no score for {row.label}"


def _mark(
    spec: TableSpec, panel: Panel, lines: Sequence[tuple[Row, CellSource, Sequence[Cell]]], context: Context
) -> dict[tuple[str, str], str]:
    """Mark the cells of ``panel``; return what the marks rest on by (column, contest)."""
    found = {}
    for place, column in enumerate(panel.columns if spec.comparisons is None else ()):
        if not column.direction:
            continue
        contests: dict[str, list[tuple[Row, CellSource, Cell]]] = {}
        for row, source, cells in lines:
            if row.ranked and row.method not in context.unranked and not math.isnan(cells[place].value):
                contests.setdefault(_contest(spec, row), []).append((row, source, cells[place]))
        for name, entries in contests.items():
            # No test spans the experiments of a sweep.
            own = {id(source): source for _, source, _ in entries}
            evidence = entries[0][1].evidence if len(own) == 1 else None
            contest = [(row, cell) for row, _, cell in entries]
            found[column.label, name] = mark(column, contest, context.marks, evidence)
    return found


def _contest(spec: TableSpec, row: Row) -> str:
    return {"": "", "encoder": row.encoder, "point": row.point}[spec.ranked_within]


def _paper_cell(
    spec: TableSpec, paper: pd.DataFrame | None, context: Context, panel: Panel, row: Row, column: Column
) -> dict[str, float | str]:
    belongs = context.paper_dataset if spec.sectioned or context.paper_dataset == spec.dataset else ""
    if paper is None or not belongs:
        return {"paper_value": NAN, "paper_deviation": NAN, "paper_text": ""}
    section = context.paper_dataset if spec.sectioned else ""
    place = (paper, panel.title, section, row.paper or row.label, column.paper or column.label)
    value, deviation, text = paper_cell(*place)
    return {"paper_value": value, "paper_deviation": deviation, "paper_text": text}


KEYS = ["method", "encoder", "metric", "variant"]


def seed_summary(scores: pd.DataFrame) -> pd.DataFrame:
    """Summarise a scores table over seeds.

    Returns one row per (method, encoder, metric, variant): mean, deviation (sample standard deviation, ddof = 1; NaN
    with one seed), seeds (how many had a value) and note (why there is none; "" otherwise). Seeds without a value are
    left out of mean and deviation. ``n``: the texts or pairs behind the value of the seed that has the fewest, 0 where
    no seed has a value.
    """
    groups = scores.groupby(KEYS, sort=True)
    summary = groups["value"].agg(mean="mean", deviation=lambda values: values.std(ddof=1), seeds="count")
    summary["n"] = scores[scores["value"].notna()].groupby(KEYS)["n"].min()
    summary["n"] = summary["n"].fillna(0).astype("int64")
    notes = scores[scores["note"] != ""].groupby(KEYS)["note"].first()
    summary["note"] = notes.reindex(summary.index).fillna("").where(summary["seeds"] == 0, "")
    return summary.reset_index()
