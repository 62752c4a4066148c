"""Gathers what the workflow made into one report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from favor.corpora.schemas import (
    ALLOCATION,
    AUTHOR_MEASURES,
    DROPPED,
    NEAR_DUPLICATES,
    OVERLAP,
    PROMPTS,
    ROSTER,
    SCRIPTS,
    SPLITS,
)
from favor.figures.specs import figures_in_order, load_figure
from favor.foundation.files import read_json
from favor.foundation.parquet import read_parquet
from favor.paper.settings import Entry
from favor.report.content import CAUTIONS, ExperimentReport, Figure, Preparation, Report, ReportTable
from favor.report.facts import Facts
from favor.report.findings import findings
from favor.report.leaderboard import leaderboard
from favor.report.settings import PrintedExperiment, PrintedSweep
from favor.running.invalidation.changes import kept_notes
from favor.scores.schemas import SCORES, SWEEP_SCORES
from favor.scores.validation import over_trained, worse_lines
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.completion import EvaluationPosts, cautions, printed_spec
from favor.tables.sweeps import at_points, choices, chosen_points, printed_at_points, with_choice

OVERVIEW = {
    "favor_overview": (
        "FAVoR",
        "Clients of FAVoR upload the change of the shared adapter alone; texts, style targets, endpoints and private "
        "residuals stay with them.",
    ),
    "pipeline": (
        "The workflow",
        "From raw posts to tables; each step is a job that reruns when what it reads changes.",
    ),
}
SWEEP_CAPTION = (
    "Means over seeds of methods that ran at two points or more, moved apart sideways where they would hide one "
    "another. Bars are 95 % intervals over authors where a metric has them, else standard deviations over seeds."
)


def assemble(
    results: Path,
    experiments: Mapping[str, PrintedExperiment],
    sweeps: Mapping[str, PrintedSweep],
    accepted: Sequence[str],
) -> Report:
    """Return the report of every experiment, then of every sweep.

    ``accepted``: stages whose results were kept although something changed.
    """
    numbers = read_json(results / "numbers.json")
    overview = [
        Figure(title, caption, *_files(results / "figures", name)) for name, (title, caption) in OVERVIEW.items()
    ]
    return Report(
        title="FAVoR Workflow",
        experiments=[
            *(_experiment(results, name, values, numbers[name]) for name, values in experiments.items()),
            *(_sweep(results, name, values) for name, values in sweeps.items()),
        ],
        figures=overview,
        cautions=list(_cautions(experiments.values())),
        rerun=["snakemake --cores all  # with the --configfile of this run, if it had one"],
        notes=[
            f"{name}/tables/{label} quotes texts and is not for publication: it is left out of this report."
            for name, values in experiments.items()
            for label in values.tables
            if not printed_spec(label).publishable
        ]
        + [
            f"{name}/gallery.html quotes texts of real authors: keep it to yourself."
            for name, values in experiments.items()
            if values.gallery and not values.demo
        ]
        + kept_notes(results, accepted),
    )


def _cautions(experiments: Iterable[PrintedExperiment]) -> Iterator[str]:
    about: set[str] = set()
    for values in experiments:
        if "BlogText" in values.dataset:
            about |= {"blogtext", *values.measured}
        about |= {row.metric for label in values.tables for row in printed_spec(label).rows}
        about |= {column.metric for label in values.tables for p in printed_spec(label).panels for column in p.columns}
    yield from (text for name, text in CAUTIONS.items() if name in about)


def _experiment(results: Path, name: str, values: PrintedExperiment, numbers: Sequence[Entry]) -> ExperimentReport:
    folder = results / "corpora" / values.corpus_key
    own = "clients/remaining" if values.withdrawn else "clients"
    copied = [NEAR_DUPLICATES] if values.near_duplicates else []
    preparation = Preparation(
        **{
            table.name: read_parquet(folder / f"{table.name}.parquet", table)
            for table in (DROPPED, ROSTER, SPLITS, OVERLAP, SCRIPTS, AUTHOR_MEASURES, *copied)
        },
        allocation=read_parquet(results / name / own / "allocation.parquet", ALLOCATION),
        filters=values.filters,
        tuned=values.tuned,
        display=values.display,
    )
    posts = EvaluationPosts.of(
        {
            seed: read_parquet(results / name / f"seed{seed}" / "prompts.parquet", PROMPTS, ["client", "document_id"])
            for seed in values.seeds
        },
        values.clients * values.prompts_per_client,
    )
    scores, context = results / name / "scores", values.context
    read = {
        family: read_parquet(scores / f"{family}.parquet", SCORES)
        for family in ("author_retrieval", "efficiency", "validation")
        if family in values.families
    }
    retrieval, traffic = read.get("author_retrieval"), read.get("efficiency")
    validation = read.get("validation", SCORES.empty())
    tables = []
    for label in values.tables:
        if not printed_spec(label).publishable:
            continue
        cells = read_parquet(results / name / "tables" / f"{label}.parquet", TABLE_CELLS)
        spec = printed_spec(label, context, posts, retrieval, cells)
        sources = [f"{name}/scores/{source}.parquet" for source in spec.sources]
        if spec.every_metric:
            sources = [f"{name}/scores"]
        sources += [f"{name}/statistics/{label}.parquet"] if spec.comparisons is not None else []
        tables.append(ReportTable(spec, cells, ", ".join(sources)))
    facts = Facts.read(results / name, values)
    style, rows, display = values.style_encoder, values.rows, values.display
    names = {row: facts.name(row) for row in rows}
    sample = read_json(results / name / "sample.json") if values.gallery else []
    return ExperimentReport(
        cautions=[
            *filter(None, [values.rate_caution, over_trained(validation, names)]),
            *([] if retrieval is None else cautions(retrieval, {style, *values.measured}, context.encoder_titles)),
        ],
        findings=findings(facts),
        leaderboard=leaderboard(facts, traffic),
        passed=facts.passed(),
        sample=[(str(kind), str(text)) for kind, text in sample],
        name=name,
        title=values.title,
        dataset=values.dataset,
        methods=rows,
        seeds=values.seeds,
        facts={
            "Base model": values.base_model,
            "Clients": f"{values.clients}" + (f" ({values.withdrawn} withdrew)" if values.withdrawn else ""),
            "Protocol": values.protocol,
            "Budget": values.budget,
            "Evaluation posts": " ".join(filter(None, (posts.sharing and f"{posts.sharing}.", posts.shortfall))),
            "Validation loss above its start after the personal stage": ", ".join(worse_lines(validation, names)),
            "Never sampled": ", ".join(
                f"{count} clients (seed {seed})" for seed, count in values.never_sampled.items()
            ),
        },
        settings={"experiment": values.experiment, "methods": values.methods, "corpus": values.corpus},
        preparation=preparation,
        tables=tables,
        figures=[_drawn(results, name, figure) for figure in figures_in_order() if figure in values.figures],
        is_demo=values.demo,
        display=display,
        numbers=numbers,
        gallery=f"{name}/gallery.html" if values.gallery else "",
    )


def _sweep(results: Path, name: str, values: PrintedSweep) -> ExperimentReport:
    folder, points = results / "sweeps" / name, values.points
    retrieval = {
        entry: read_parquet(results / entry / "scores" / "author_retrieval.parquet", SCORES)
        for entry in values.contexts
        if any(printed_spec(label).prints_style for label in values.tables)
    }
    scores = read_parquet(folder / "scores.parquet", SWEEP_SCORES) if values.choose_by else None
    display, tables = values.display, []
    for label in values.tables:
        specs = {entry: printed_spec(label, values.contexts[entry], None, found) for entry, found in retrieval.items()}
        spec = printed_at_points(label, points, specs)
        if scores is not None:
            spec = with_choice(spec, scores, points, display)
        spec = at_points(spec, points)
        cells = read_parquet(folder / "tables" / f"{label}.parquet", TABLE_CELLS)
        own = sorted({f"{point.experiment}/statistics/{label}.parquet" for point in points} if spec.comparisons else ())
        tables.append(ReportTable(spec, cells, ", ".join([f"sweeps/{name}/scores.parquet", *own])))
    return ExperimentReport(
        name=name,
        title=values.title,
        dataset=values.dataset,
        methods=values.methods,
        seeds=values.seeds,
        facts={
            "Base model": values.base_model,
            values.axis: ", ".join(f"{point.label} ({point.experiment})" for point in points),
        }
        | ({} if scores is None else {"Chosen by validation loss": chosen_points(choices(scores, points), display)}),
        tables=tables,
        figures=[
            Figure(
                values.title,
                SWEEP_CAPTION,
                *_files(folder / "figures", "points"),
                f"sweeps/{name}/figures/points.csv",
                (f"sweeps/{name}/scores.parquet",),
            )
        ]
        if values.figure
        else [],
        is_demo=values.demo,
        display=display,
        kind="Sweep",
    )


# Tables of one file per experiment, from its folder; figures also draw tables of every run or space.
_WHOLE = {
    "evidence": "evidence.parquet",
    "participation": "diagnostics/participation.parquet",
    "coordinate_effects": "diagnostics/coordinate_effects.parquet",
    "adapter_energy": "diagnostics/adapter_energy.parquet",
    "allocation": "clients/allocation.parquet",
}


def _drawn(results: Path, experiment: str, name: str) -> Figure:
    figure = load_figure(name)
    tables = [f"scores/{family}.parquet" for family in figure.scores]
    tables += [_WHOLE[table] for table in figure.inputs if table in _WHOLE]
    data = tuple(f"{experiment}/{table}" for table in tables)
    files = _files(results / experiment / "figures", name)
    return Figure(figure.title, figure.caption, *files, f"{experiment}/figures/{name}.csv", data)


def _files(folder: Path, figure: str) -> tuple[Path, Path]:
    return folder / f"{figure}.svg", folder / f"{figure}.pdf"
