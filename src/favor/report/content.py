"""What a report holds, apart from how it is set: the HTML page and the PDF read the same values.

Nothing here names an author or quotes a text: clients are anonymous (client_001 onwards).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import get_args

import pandas as pd

from favor.federation.settings import Tuned
from favor.figures.specs import ONE_VALUE
from favor.paper.settings import Entry
from favor.tables.cells import DASH
from favor.tables.specs import Section, TableSpec

# By the corpus, encoder or metric of the run that they are about.
CAUTIONS = {
    "blogtext": "In the paper's BlogText run 81-86 % of the same-topic negatives are student against student, so "
    "verification mostly tells students apart.",
    "star": "STAR was trained on the Blog Authorship Corpus: its row among the representations is contaminated.",
    "top1_cosine": "Top-1 cosine is the similarity to the predicted author, whoever that is, so homogenised methods "
    "score higher.",
}
DEMO_STATEMENT = (
    "This is the demo: generated authors and a one-million-parameter model. It shows that every step works; its "
    "numbers say nothing about the methods."
)
# What follows a run, at its end and on the page; the first is of a demo.
NEXT = {
    True: "Your own posts: favor init posts.csv, favor check posts.yaml, favor run posts.yaml.",
    False: "What a smaller difference takes: favor plan --like results/{name}. To publish: snakemake release.",
}
QUESTION = "How much of each author's voice is left when many authors train one language model together?"


@dataclass(frozen=True)
class Figure:
    """A figure: title, caption and its files.

    svg, pdf: the drawing, for HTML and for LaTeX.
    drawn: the numbers that are drawn, as CSV; "" for a figure without numbers.
    data: the tables that they come from.

    ``drawn`` and ``data`` are paths from the report's folder.
    """

    title: str
    caption: str
    svg: Path
    pdf: Path
    drawn: str = ""
    data: Sequence[str] = ()


@dataclass(frozen=True)
class ReportTable:
    """A table: its specification, its ``table_cells``, and what made it (score files, seeds)."""

    spec: TableSpec
    cells: pd.DataFrame
    made_from: str = ""


@dataclass(frozen=True)
class Preparation:
    """What became of the corpus, as the workflow's own tables (``None`` where a table does not exist).

    ``dropped``, ``scripts``, ``roster``, ``splits``, ``overlap``, ``allocation``, ``near_duplicates``: tables of those
    names, as is ``author_measures``. Only counts are printed. ``filters``: the corpus's section of that name.
    ``tuned``: what ``favor tune`` tried; ``display``: printed names of rows.
    """

    dropped: pd.DataFrame | None = None
    roster: pd.DataFrame | None = None
    splits: pd.DataFrame | None = None
    overlap: pd.DataFrame | None = None
    allocation: pd.DataFrame | None = None
    near_duplicates: pd.DataFrame | None = None
    scripts: pd.DataFrame | None = None
    author_measures: pd.DataFrame | None = None
    filters: Mapping[str, object] = field(default_factory=dict)
    tuned: Tuned | None = None
    display: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentReport:
    """One experiment of the run, or one sweep over several (``kind``).

    ``settings``: resolved configuration values to print, nested mappings allowed. ``facts``: short name -> value
    lines for the opening summary (clients, base model). ``is_demo``: whether the demo statement is printed.
    ``display``: printed names of methods that the paper does not know. ``numbers``: the experiment's entries of
    numbers.json. ``findings`` and ``leaderboard``: what came out in sentences (:mod:`favor.report.findings`), and all
    rows in one order (:mod:`favor.report.leaderboard`). ``cautions``: what is to be known before them. ``gallery``: the
    page beside the report that quotes texts, if there is one; ``sample``: its first prompt and texts, as (name, text).
    ``passed``: by row, how many of its outputs passed the filter, and how many there are.
    """

    name: str
    title: str
    dataset: str
    methods: Sequence[str]
    seeds: Sequence[int]
    facts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    preparation: Preparation = field(default_factory=Preparation)
    tables: Sequence[ReportTable] = ()
    figures: Sequence[Figure] = ()
    is_demo: bool = False
    display: Mapping[str, str] = field(default_factory=dict)
    kind: str = "Experiment"
    numbers: Sequence[Entry] = ()
    findings: Sequence[str] = ()
    sample: Sequence[tuple[str, str]] = ()
    passed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    cautions: Sequence[str] = ()
    leaderboard: pd.DataFrame | None = None
    gallery: str = ""


@dataclass(frozen=True)
class Report:
    """The whole report: opening figures (workflow, pipeline), one part per experiment, and how to run it again."""

    title: str
    experiments: Sequence[ExperimentReport]
    figures: Sequence[Figure] = ()
    rerun: Sequence[str] = ()
    cautions: Sequence[str] = ()
    notes: Sequence[str] = ()


def finding_of(svg: str) -> str:
    """Return the sentence on what an SVG of ours shows; "" where it says nothing."""
    found = re.search(r"<dc:title>(.*?)</dc:title>", svg)
    return unescape(found[1]) if found else ""


def said(figure: Figure) -> tuple[str, bool]:
    """Return a figure's finding, and whether it stands in the drawing's place, which shows one value many times."""
    svg = figure.svg.read_text(encoding="utf-8") if figure.svg.is_file() else ""
    return finding_of(svg), f"<dc:description>{ONE_VALUE}<" in svg


def without_texts(page: bytes) -> bytes:
    """Return a report without what it quotes: a prompt and its texts, which no release may hold."""
    return re.sub(rb"<!--texts-->.*?<!--/texts-->\n?", b"", page, flags=re.DOTALL)


def by_section(tables: Sequence[ReportTable]) -> list[tuple[str, list[ReportTable]]]:
    """Return the tables grouped by section, in the order of the sections and, within one, in their own."""
    groups: dict[str, list[ReportTable]] = {section: [] for section in get_args(Section)}
    for table in tables:
        groups[table.spec.section].append(table)
    return [(section, found) for section, found in groups.items() if found]


def table_file(experiment: ExperimentReport, table: ReportTable, kind: str) -> str:
    """Return the path of a table's file of a kind (parquet, tex, html) from the report's folder."""
    folder = experiment.name if experiment.kind == "Experiment" else f"sweeps/{experiment.name}"
    return f"{folder}/tables/{table.spec.label}.{kind}"


def flat_settings(settings: Mapping[str, object], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested settings as (dotted key, printed value) lines in key order."""
    lines: list[tuple[str, str]] = []
    for key, value in sorted(settings.items()):
        name = f"{prefix}{key}"
        nested = flat_settings(value, f"{name}.") if isinstance(value, Mapping) else []
        lines += nested or [(name, setting_text(value))]
    return lines


def digest(settings: Mapping[str, object]) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of resolved settings, as canonical JSON."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def setting_text(value: object) -> str:
    """Return a configuration value as text."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {setting_text(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(setting_text(item) for item in value) or "none"
    return str(value)


def nothing_to_show(table: ReportTable) -> str:
    """Return a line that stands in the place of a table of dashes alone, and says why; "" for any other table."""
    if len(table.cells) and not (table.cells["text"] == DASH).all():
        return ""
    reasons = "; ".join(reason for reason in table.cells["reason"].unique() if reason) or "no row of it was run"
    return f"Nothing to show: {reasons}."


def table_note(experiment: ExperimentReport, table: ReportTable) -> str:
    """Return the caption's sentence that says what made the numbers."""
    if not table.made_from:
        return f"{experiment.kind} {experiment.name}."
    count = len(experiment.seeds)
    seeds = f"{'one seed' if count == 1 else f'{count} seeds'} ({', '.join(map(str, experiment.seeds))})"
    what = "matched outputs of " if table.spec.comparisons is not None else "mean over " if count != 1 else ""
    return f"{experiment.kind} {experiment.name}, {what}{seeds} from {table.made_from}."
