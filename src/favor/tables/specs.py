"""What a table is: rows, columns, direction, format and source, as data.

A table is a ``NAME = TableSpec(label=..., ...)`` at the top level of a file in ``declarations``, which may hold
several. It is printed where the configuration names its label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from favor.foundation.registry import METRIC_FAMILIES, TABLES
from favor.paper.names import SEPARATOR, encoder_name, method_name, short_method_name
from favor.scores.metric import SOURCE, families_of

if TYPE_CHECKING:  # read while the workflow is parsed
    import pandas as pd

Direction = Literal["up", "down", ""]
Deviation = Literal["none", "inline", "stacked"]
Unit = Literal["", "count", "bytes", "seconds"]
Statistic = Literal[
    "left", "right", "delta", "interval", "author_interval", "author_delta_interval", "p", "author_p", "p_holm", "n"
]
# The sections of the report, in its order: the paper's, and one for tables that the paper does not have.
Section = Literal[
    "Main text",
    "Qualitative examples",
    "Prompting and retrieval baselines",
    "Source-space controls",
    "Base-model sensitivity",
    "100-author stress test",
    "Data scale and imbalance",
    "Cold-start details",
    "Human audit and judges",
    "External verifiers",
    "Author-disjoint style encoder",
    "Mythos-Reddit",
    "FedDPA gates",
    "Component ablations",
    "Efficiency and communication",
    "Statistical testing",
    "Voice kept, diversity and copying",
    "Privacy",
    "Further tables of this workflow",
]
# Families of which a table without encoders of its own prints those that were scored.
_IN_EVERY_SPACE = {"author_retrieval", "measure_agreement", "topics", "transfer", "verification"}
POINT = "{point}"  # stands in a row of a table over points for the point's name
DIRECTIONS: dict[str, Direction] = {"higher": "up", "lower": "down", "none": ""}  # of metrics, as columns have them
METRIC = "{metric}"  # stands in a row of a table of comparisons for its metric's name

COMPARISON_NOTE = (
    "Positive differences favour the left method, also where lower values are better. The paper's cluster interval and "
    "p treat an author's seeds, or single outputs, as independent; the last three columns are over authors (Holm over "
    "the table). For comparison with the paper: the verdict on two methods is in the table of all methods."
)


@dataclass(frozen=True)
class Row:
    """One row: the printed leading cells (``stub``), and the method key and encoder role that its scores carry.

    ``ranked``: whether the row takes part in best and second-best. ``group``: a rule is drawn where it changes.
    ``encoder_place``: which of the leading cells names the encoder, so that its own title can stand there.
    ``optional``: left out where nothing was scored for it. ``paper``: the row's name in the paper's table where it
    differs from the stub. ``metric``, ``setting``, ``decimals`` and ``unit`` go before
    the column's, for tables whose rows are quantities. ``rival``: the method that ``method`` is compared with.
    ``point``: the point of a sweep that the row stands for.
    """

    stub: tuple[str, ...]
    method: str = ""
    encoder: str = ""
    ranked: bool = True
    group: str = ""
    optional: bool = False
    paper: str = ""
    metric: str = ""
    setting: str = ""
    decimals: int | None = None
    unit: Unit = ""
    rival: str = ""
    point: str = ""
    encoder_place: int | None = None

    @property
    def label(self) -> str:
        """The stub cells as one string, which names the row in ``table_cells``."""
        return SEPARATOR.join(self.stub)


@dataclass(frozen=True)
class Derived:
    """A cell that a specification computes itself: its text, its number where it is one, and why it is a dash."""

    text: str
    value: float = float("nan")
    reason: str = ""


Scores: TypeAlias = "pd.DataFrame"  # rows of the table ``scores``
Roles: TypeAlias = Mapping[str, str]  # encoder key by role
Derive: TypeAlias = Callable[[Row, Scores, Roles], Derived]


@dataclass(frozen=True)
class Column:
    """One column: a metric of the scores table, for the row's method and encoder unless the column names its own."""

    header: str  # printed; "\\n" breaks the line (a hyphen before it stays joined)
    metric: str = ""
    encoder: str = ""  # role ("style", "independent", "semantic") or key
    method: str = ""
    variant: str = ""
    direction: Direction = ""  # filled in from the metric (favor.tables.completion)
    decimals: int = 3
    deviation: Deviation = "none"
    interval: bool = False  # printed behind the value: from its variants "low" to "high", or "{variant}_low" and so on
    wide: bool = False  # holds sentences, which wrap
    # Computes the cell from the row, the scores and the encoder key by role.
    derive: Derive | None = None
    paper: str = ""  # the column's name in the paper's table where it differs from ``label``
    statistic: Statistic | None = None  # of a comparison instead of a score
    setting: str = ""  # of the row's method, as it ran (favor.plan.records.run_check)
    minus: str = ""  # method whose value is taken from the column's own
    zero: str = ""  # method that is 0 on the column's scale by definition: a dash
    unit: Unit = ""  # printed in the multiple of it that a reader thinks in, instead of with ``decimals``
    signed: bool = False  # "+" is printed
    # Method whose value is printed after the column's own, "0.755 / 0.685", the difference in brackets if ``signed``.
    beside: str = ""
    compared: bool = True  # ours minus the paper's is printed; a difference of p-values or counts has no meaning

    @property
    def label(self) -> str:
        """The header on one line, which names the column in ``table_cells``."""
        return self.header.replace("-\n", "-").replace("\n", " ")


@dataclass(frozen=True)
class Panel:
    """A block of columns with its own header; most tables have one, without a title."""

    columns: tuple[Column, ...]
    title: str = ""


def panel(title: str, *columns: Column) -> Panel:
    """Return a block of columns under its own header."""
    return Panel(columns, title)


def one_panel(*columns: Column) -> tuple[Panel, ...]:
    """Return the panels of a table of one block, which needs no title."""
    return (Panel(columns),)


@dataclass(frozen=True)
class Comparisons:
    """Which methods a table compares, as (left, right) method keys; positive differences favour the left.

    ``metrics``: metric -> the encoder roles it is taken in. ``exact``: metrics that print McNemar's or Wilcoxon's p.
    """

    pairs: tuple[tuple[str, str], ...]
    metrics: Mapping[str, tuple[str, ...]]
    exact: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSpec:
    """A table of the paper (or a user's own).

    label: the paper's, without "tab:".
    sources: the score families whose files the table reads; where none is named, those that declare the metrics of its
        columns and rows, in their order.
    section: of the report.
    paper: where the paper prints the table, for the report's sentence about it.
    sectioned: the table has a section per corpus.
    dataset: the corpus that the paper's table is about; "" where it is sectioned.
    open_rows: methods of the configuration that the paper does not know are appended, if rows are methods.
    collaborative: of those, the ones that federate only.
    with_controls: control rows are printed, if rows are methods.
    ranked_within: "encoder" or "point" ranks the rows of each apart.
    scored_only: rows of methods that its families did not score are left out.
    publishable: False for a table that quotes texts: it has files of its own, and no place in the report.
    comparisons: the paired tests behind a table of comparisons.
    over_points: the rows stand once for every point of a sweep, its name where they say ``POINT``
        (:mod:`favor.tables.sweeps`); the table belongs to a sweep, not to an experiment.
    spread: printed for the name where a row stands once more, for the mean over points and their standard deviation;
        "" prints no such rows.
    every_metric: prints every metric that is computed for the experiment, in panels that
        :mod:`favor.tables.completion` makes from the scores.
    row_source: makes the rows from the scores, for a table whose rows the configuration decides.
    footnotes: sentences about this run, printed below where their key is a row's first cell or a column's method, or ""
        (:mod:`favor.tables.completion`).
    """

    label: str
    title: str
    caption: str
    rows: tuple[Row, ...] = ()
    panels: tuple[Panel, ...] = ()
    sources: tuple[str, ...] = ()
    section: Section = "Further tables of this workflow"
    paper: str = ""
    stub_headers: tuple[str, ...] = ("Method",)
    sectioned: bool = False
    dataset: str = "BlogText"
    open_rows: bool = True
    collaborative: bool = False
    with_controls: bool = True
    ranked_within: Literal["", "encoder", "point"] = ""
    scored_only: bool = False
    publishable: bool = True
    comparisons: Comparisons | None = None
    over_points: bool = False
    spread: str = ""
    every_metric: bool = False
    row_source: Callable[[Scores], tuple[Row, ...]] | None = None
    footnotes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.sources and not self.every_metric:
            metrics = [column.metric for panel in self.panels for column in panel.columns]
            metrics += [row.metric for row in self.rows] if self.comparisons is None else []
            families = dict.fromkeys(family for metric in metrics if metric for family in families_of([metric]))
            object.__setattr__(self, "sources", tuple(families))

    @property
    def style_encoders(self) -> set[str]:
        """The encoders, by role or key, whose style scores the table names."""
        named = {column.encoder for panel in self.panels for column in panel.columns}
        named |= {row.encoder for row in self.rows}
        if self.comparisons is not None:
            named |= {role for roles in self.comparisons.metrics.values() for role in roles}
        return named - {"", "semantic"}  # likeness of meaning needs no author

    @property
    def prints_style(self) -> bool:
        """Whether the table prints style scores: of the encoders that it names, or else of those that were scored."""
        return self.every_metric or bool(self.style_encoders or _IN_EVERY_SPACE & {*self.sources})

    @property
    def lists_methods(self) -> bool:
        """Whether rows are methods, which others and the controls can follow: nothing else and at no point."""
        made = self.row_source is not None or self.comparisons is not None or self.over_points
        return not made and not any(row.metric or row.setting or row.method == SOURCE for row in self.rows)

    @property
    def families(self) -> list[str]:
        """The metric families that say what its columns and rows are called, and which way is better."""
        if self.every_metric:
            return METRIC_FAMILIES.names()
        compared = families_of(self.comparisons.metrics) if self.comparisons else []
        return sorted({*self.sources, *compared})

    def column_in(self, row: str, column: Column) -> Column:
        """Return ``column`` with the places and the unit that the row labelled ``row`` prints."""
        own = next((entry for entry in self.rows if entry.label == row), None)
        if own is None:
            return column
        decimals = column.decimals if own.decimals is None else own.decimals
        return replace(column, decimals=decimals, unit=own.unit or column.unit)


def comparison_rows(comparisons: Comparisons) -> tuple[Row, ...]:
    """Return the rows pair x (encoder, if the metrics have several) x metric, with the paper's names."""
    roles = list(dict.fromkeys(role for chosen in comparisons.metrics.values() for role in chosen))
    rows = []
    for left, right in comparisons.pairs:
        pair = f"{short_method_name(left)} vs. {short_method_name(right)}"
        for role in roles:
            evaluator, place = ((encoder_name(role),), 1) if len(roles) > 1 else ((), None)
            rows += [
                Row((pair, *evaluator, METRIC), left, role, rival=right, metric=name, group=pair, encoder_place=place)
                for name, chosen in comparisons.metrics.items()
                if role in chosen
            ]
    return tuple(rows)


def comparison_columns(left: str, right: str, with_n: bool = False) -> tuple[Column, ...]:
    """Return the paper's columns of a table of comparisons, then interval, p and corrected p over authors."""
    return (
        Column(left, statistic="left"),
        Column(right, statistic="right"),
        Column("Directional\nΔ", statistic="delta", signed=True),
        Column("Cluster 95%\nCI", statistic="interval"),
        Column("p", statistic="p", compared=False),
        *((Column("n", statistic="n", decimals=0),) if with_n else ()),
        Column("Author-cluster\n95% CI", statistic="author_interval"),
        Column("Author-cluster\np", statistic="author_p", compared=False),
        Column("Holm\np", statistic="p_holm", compared=False),
    )


def method_rows(*keys: str) -> tuple[Row, ...]:
    """Return one row per method key, with the paper's names; the paper's own values are looked up without dagger.

    A method that the paper does not know is printed under its own name.
    """
    return tuple(Row((method_name(key),), method=key) for key in keys)


def encoder_rows(method: str, optional: bool = False, **labels: str) -> tuple[Row, ...]:
    """Return one row per encoder role (role=printed name) for the source-space scores kept under ``method``."""
    return tuple(
        Row((label,), method=method, encoder=role, optional=optional, encoder_place=0) for role, label in labels.items()
    )


def evaluator_rows(*keys: str, encoders: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rows method x encoder, grouped by method."""
    return tuple(
        Row((method_name(key), encoder_name(role)), method=key, encoder=role, group=key, encoder_place=1)
        for key in keys
        for role in encoders
    )


def load_spec(label: str) -> TableSpec:
    """Return the specification of table ``label``. Raises ``UserError`` naming the nearest label."""
    spec: TableSpec = TABLES.declared(label)
    return spec


Marks = Literal["paper", "evidence"]
RowSettings = Mapping[str, bool | int | float | str]


@dataclass(frozen=True)
class Context:
    """What a table needs to know of the experiment behind its scores."""

    experiment: str
    methods: Sequence[str]  # keys of the rows that the configuration runs, in its order
    dataset: str = ""  # printed section name
    paper_dataset: str = ""  # "BlogText" or "Mythos-Reddit" prints that corpus's values of the paper beside ours
    encoders: Mapping[str, str] = field(default_factory=dict)  # encoder key by role ("style": "asce_a")
    encoder_titles: Mapping[str, str] = field(default_factory=dict)  # printed name by encoder key, where it has its own
    display: Mapping[str, str] = field(default_factory=dict)  # printed name by method, where the paper does not know it
    absences: Mapping[str, str] = field(default_factory=dict)  # why a method, encoder (role or key) or metric is absent
    seeds: Sequence[int] = ()  # those that were asked for; a value behind which some are missing says so
    settings: Mapping[str, RowSettings] = field(default_factory=dict)  # as each method ran
    references: Sequence[str] = ()  # methods that do not federate
    remarks: Mapping[str, str] = field(default_factory=dict)  # sentences below a table, by the name of a row's method
    clients: int = 0
    marks: Marks = "evidence"
    unranked: Sequence[str] = ()  # methods that are printed and take no place
    prompts: int = 0  # evaluation prompts that were asked for, per seed

    def encoder_name(self, role: str) -> str:
        """Return the printed name of an encoder role or key: its own title, or else the paper's name for it."""
        return self.encoder_titles.get(self.encoders.get(role, role)) or encoder_name(role)
