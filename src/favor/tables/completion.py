"""The table that a run prints: a declared one with metrics' names, cautions and footnotes, or panels of all metrics.

Declarations are read while the workflow is parsed, when no metric is imported; jobs complete them here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from favor.foundation.registry import METRIC_FAMILIES
from favor.paper.names import CONTROLS, METHODS, encoder_name, method_name
from favor.scores.author_retrieval import unproven
from favor.scores.metric import SOURCE, Metric, metrics_of
from favor.tables.specs import DIRECTIONS, METRIC, Column, Context, Panel, Row, Scores, TableSpec, load_spec

SOURCE_ROW = "Human texts"


@dataclass(frozen=True)
class EvaluationPosts:
    """The held-out posts that an experiment's outputs continue.

    ``posts``: how many over all seeds; ``shared``: how many of them serve more than one seed. ``prompts``: how many
    each seed has; ``asked``: how many it should have.
    """

    posts: int
    shared: int
    prompts: Mapping[int, int]
    asked: int

    @classmethod
    def of(cls, prompts: Mapping[int, pd.DataFrame], asked: int) -> EvaluationPosts:
        """Count the tables ``prompts`` by seed (columns client, document_id)."""
        uses = Counter(post for frame in prompts.values() for post in set(frame["document_id"]))
        shared = sum(count > 1 for count in uses.values())
        return cls(len(uses), shared, {seed: len(frame) for seed, frame in prompts.items()}, asked)

    @property
    def sharing(self) -> str:
        """The sentence about seeds that share posts; "" where none does."""
        if not self.shared:
            return ""
        return (
            f"{self.shared} of the {self.posts} evaluation posts are used in more than one seed, so the seeds are not "
            "independent samples"
        )

    @property
    def shortfall(self) -> str:
        """The sentence about prompts that the test posts are too short for; "" where there is none."""
        fewer = [f"{count} of {self.asked} (seed {seed})" for seed, count in self.prompts.items() if count < self.asked]
        return f"Fewer prompts than asked for, as test posts are too short: {', '.join(fewer)}." if fewer else ""


def printed_spec(
    label: str,
    context: Context | None = None,
    posts: EvaluationPosts | None = None,
    retrieval: Scores | None = None,
    values: pd.DataFrame | None = None,
) -> TableSpec:
    """Return table ``label`` as it is printed of one experiment, ``context``; without one, what it says of every one.

    posts: those behind the prompts; without them nothing of the experiment stands below the table.
    retrieval: scores of the family ``author_retrieval``, which say of which encoders to caution.
    values: the scores or the printed cells that a table of every metric has its panels from.

    Cautions about encoders stand before the caption. Where seeds share posts, clusters of seed and author are not
    independent, so the interval over authors goes before that over clusters. Raises ``UserError`` for an unknown label.
    """
    spec = with_headers(load_spec(label))
    if context is None:
        return spec
    if spec.every_metric and values is not None:
        panels = _of_cells(values) if "panel" in values else _of_scores(values, context.encoder_name)
        spec = replace(spec, panels=panels)
    if retrieval is not None and spec.prints_style:
        named = {context.encoders.get(name, name) for name in spec.style_encoders} or set(retrieval["encoder"])
        said = cautions(retrieval, named, context.encoder_titles)
        spec = replace(spec, caption=" ".join([*said, spec.caption]))
    if posts is None:
        return spec
    remarks = context.remarks
    if spec.sources == ("efficiency",):  # counts no outputs
        return replace(spec, footnotes=remarks)
    general = [_chance(spec, context.clients), posts.shortfall, remarks.get("", "")]
    if spec.comparisons is not None and posts.sharing:
        general.append(f"{posts.sharing}: read the interval over authors first.")
        spec = replace(spec, panels=tuple(map(_authors_first, spec.panels)))
    return replace(spec, footnotes={"": "", **remarks} | {"": " ".join(filter(None, general))})


def with_headers(spec: TableSpec) -> TableSpec:
    """Return ``spec`` with the direction of every column of scores, and the metrics' names in rows of paired tests.

    A column that prints a statistic of a comparison, or always the same method, ranks nothing. A column of a metric
    that no family of ``spec.sources`` declares raises ``KeyError``: its scores would not be there either.
    """
    metrics = {metric.name: metric for family in spec.families for metric in metrics_of(family)}
    panels = tuple(
        replace(panel, columns=tuple(_directed(column, metrics) for column in panel.columns)) for panel in spec.panels
    )
    return replace(spec, rows=tuple(_named(row, metrics) for row in spec.rows), panels=panels)


def cautions(retrieval: Scores, encoders: Collection[str], titles: Mapping[str, str]) -> list[str]:
    """Return a sentence per encoder that does not separate the writers' own texts, of ``encoders`` (keys).

    ``retrieval``: scores of the family ``author_retrieval``; ``titles``: printed names, by key.
    """
    return [
        f"Caution: {titles.get(key) or encoder_name(key)} {reason}, so its style scores are no evidence about voices."
        for key, reason in unproven(retrieval).items()
        if key in encoders
    ]


def _directed(column: Column, metrics: Mapping[str, Metric]) -> Column:
    if column.statistic or column.method or column.metric.startswith("@") or not column.metric:
        return column
    return replace(column, direction=DIRECTIONS[metrics[column.metric].direction])


def _named(row: Row, metrics: Mapping[str, Metric]) -> Row:
    if METRIC not in row.stub:
        return row
    metric = metrics[row.metric]
    return replace(
        row, stub=tuple((metric.paired_label or metric.label) if part == METRIC else part for part in row.stub)
    )


def _chance(spec: TableSpec, clients: int) -> str:
    """Return the sentence on what guessing scores in the columns of ``spec``; "" where no column has such a score."""
    metrics = {column.metric for panel in spec.panels for column in panel.columns}
    parts = []
    if clients and metrics & {"author_accuracy", "author_macro_f1", "profile_accuracy"}:
        parts.append(f"accuracy 1/{clients} = {1 / clients:.3f}")
    if any(metric.endswith(("_auc", "_eer")) and not metric.startswith("kept_") for metric in metrics):
        parts.append("AUC and EER 0.5")
    return f"Chance: {'; '.join(parts)}." if parts and spec.comparisons is None else ""


def _authors_first(panel: Panel) -> Panel:
    columns = list(panel.columns)
    statistics = [column.statistic for column in columns]
    if "interval" in statistics and "author_interval" in statistics:
        moved = columns.pop(statistics.index("author_interval"))
        columns.insert(statistics.index("interval"), moved)
    return replace(panel, columns=tuple(columns))


def method_rows_of(scores: pd.DataFrame) -> tuple[Row, ...]:
    """Return a row per method that has scores, the paper's methods first; the human texts by themselves come last."""
    scored = [method for method in dict.fromkeys(scores["method"]) if method not in (*CONTROLS, SOURCE)]
    rows = [Row((method_name(method),), method) for method in sorted(scored, key=[*METHODS, *scored].index)]
    human = [Row((SOURCE_ROW,), SOURCE, ranked=False)] if (scores["method"] == SOURCE).any() else []
    return (*rows, *human)


def _of_scores(scores: pd.DataFrame, encoder_title: Callable[[str], str]) -> tuple[Panel, ...]:
    """Return the panels of scores: families in name order, each of their encoders by itself."""
    default = scores[scores["variant"] == ""]
    panels = []
    for family in METRIC_FAMILIES.names():
        own = {metric.name: metric for metric in metrics_of(family)}
        found = default[default["metric"].isin(list(own))]
        for encoder in sorted(set(found["encoder"])):
            computed = set(found.loc[found["encoder"] == encoder, "metric"])
            title = f"{_heading(family)}, {encoder_title(encoder)}" if encoder else _heading(family)
            panels.append(_of_metrics(title, [metric for name, metric in own.items() if name in computed], encoder))
    return tuple(panels)


def _of_cells(cells: pd.DataFrame) -> tuple[Panel, ...]:
    families = {_heading(family): family for family in METRIC_FAMILIES.names()}
    panels = []
    for title, own in cells.groupby("panel", sort=False):
        metrics = {metric.label: metric for metric in metrics_of(families[str(title).partition(", ")[0]])}
        panels.append(_of_metrics(str(title), [metrics[label] for label in dict.fromkeys(own["column"])]))
    return tuple(panels)


def _of_metrics(title: str, metrics: Sequence[Metric], encoder: str = "") -> Panel:
    columns = (
        Column(
            metric.label,
            metric.name,
            encoder,
            direction=DIRECTIONS[metric.direction],
            decimals=3 if math.isfinite(metric.maximum) else 1,
            deviation="inline",
            unit="bytes" if metric.unit == "bytes" else "seconds" if metric.unit == "seconds" else "",
        )
        for metric in metrics
    )
    return Panel(tuple(columns), title)


def _heading(family: str) -> str:
    return family.replace("_", " ").capitalize()
