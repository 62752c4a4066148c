"""The settings of tables and report, and what the report and the gallery print."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue

from favor.federation.settings import Tuned
from favor.foundation.section import Section, key
from favor.paper.settings import Claimed
from favor.scores.settings import FilteredOutputs
from favor.tables.settings import Point
from favor.tables.specs import Context


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list, json_schema_input_type=list[str] | str)]


class Report(Section):
    """What tables and the report show."""

    marks: Literal["evidence", "paper"] = key(
        "evidence",
        "What tables mark: in grey the rows that paired tests find below the best (`evidence`), or by printed means "
        "the best in bold and the second-best underlined (`paper`, for tables beside the paper's).",
    )
    margin: float = key(
        0.5,
        "Share of the way from chance to the authors' own texts. A difference is ruled out where its interval lies "
        "within it: at 0.5 a method is said to keep less than half of the voice, or two to be within half of it.",
        gt=0,
        lt=1,
    )
    unranked: Names = key([], "Rows that are printed and take no place, as an audit of another row.")
    gallery: bool | None = key(
        None,
        "Makes `gallery.html`, a page per experiment that shows authors' texts beside every row's. Null makes it of "
        "generated corpora only. It quotes texts: keep that of a real corpus to yourself. No release holds it.",
    )


class Gallery(FilteredOutputs):
    """Settings of the job that makes a gallery. ``display``: printed names of rows; ``generated``: no real authors."""

    style_encoder: str
    title: str
    rows: list[str]
    display: dict[str, str]
    generated: bool


class PrintedExperiment(Claimed):
    """What the report prints of an experiment and finds its files by.

    ``methods``: hyper-parameters of each of its ``rows``; ``experiment`` and ``corpus``: all keys of these sections.
    ``withdrawn``: clients that left. ``measured``: encoders of its tables. ``never_sampled``: clients by seed.
    ``near_duplicates``: whether they were looked for; ``demo``: no real authors.
    """

    context: Context
    title: str
    corpus_key: str
    dataset: str
    base_model: str
    protocol: str
    budget: str
    withdrawn: int
    measured: list[str]
    never_sampled: dict[str, int]
    tables: list[str]
    figures: list[str]
    near_duplicates: bool
    gallery: bool
    demo: bool
    rate_caution: str
    tuned: Tuned | None
    filters: dict[str, JsonValue]
    experiment: dict[str, JsonValue]
    methods: dict[str, dict[str, JsonValue]]
    corpus: dict[str, JsonValue]


class PrintedSweep(Section):
    """What the report prints of a sweep. ``contexts``: by experiment; ``demo``: no real authors."""

    title: str
    axis: str
    points: list[Point]
    tables: list[str]
    figure: list[str]
    choose_by: str | None
    contexts: dict[str, Context]
    methods: list[str]
    display: dict[str, str]
    seeds: list[int]
    dataset: str
    demo: bool
    base_model: str


class WholeReport(Section):
    """Settings of the job that makes the report. ``order``: of the experiments; ``accepted``: stages kept as they were.

    ``results``: the results folder.
    """

    results: str
    experiments: dict[str, PrintedExperiment]
    order: list[str]
    sweeps: dict[str, PrintedSweep]
    accepted: list[str]
