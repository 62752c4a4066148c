"""The HTML report: one self-contained file, readable on a phone, on paper and without colour."""

import json
import re
from pathlib import Path

import pandas as pd

from favor.foundation.files import write_text
from favor.foundation.html import render
from favor.paper.names import method_name, unmarked
from favor.report.content import (
    DEMO_STATEMENT,
    NEXT,
    QUESTION,
    ExperimentReport,
    Figure,
    Report,
    ReportTable,
    by_section,
    digest,
    flat_settings,
    nothing_to_show,
    said,
    table_file,
    table_note,
)
from favor.report.leaderboard import LEADERBOARD
from favor.report.paper_agreement import NUMBERS_CAPTION, NUMBERS_TITLE, agreement, agreement_rows, number_rows
from favor.report.preparation import blocks, remarks
from favor.report.svg import inline_svg
from favor.running.folder.run_record import PAGE
from favor.tables.html import html_table, page

OPENING = ("Base model",)  # facts of the first screen
OPEN_FIGURES = 5  # after that of the card
OPEN_TABLES = ("main_federated_results", "distinct-faithful")  # after that of all methods


def write_html_report(path: str | Path, report: Report) -> None:
    """Write ``report`` as one HTML file that loads nothing from anywhere."""
    folder = Path(__file__).parent / "templates/report"
    body = render(
        folder,
        "report.html",
        title=report.title,
        experiments=[_experiment(experiment) for experiment in report.experiments],
        groups=_contents(report),
        figures=[_figure(figure, f"overview-{number}") for number, figure in enumerate(report.figures)],
        notes=report.notes,
        digests=[(f"Configuration of {one.name}", digest(one.settings)) for one in report.experiments],
        provenance=PAGE,
        cautions=report.cautions,
        rerun="\n".join(report.rerun),
        numbers_title=NUMBERS_TITLE,
    )
    script, style = ((folder / f"report.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    write_text(page(report.title, body, script, style), path)


def _contents(report: Report) -> list[tuple[str, list[tuple[str, str]]]]:
    """The links to every part, as (place, text), grouped by experiment and section."""
    groups = []
    for experiment in report.experiments:
        name = experiment.name
        links = [(f"experiment-{name}", "Result")]
        if experiment.leaderboard is not None and len(experiment.leaderboard):
            links.append((f"leaderboard-{name}", "All methods"))
        links += [(f"figure-{name}-{number}", figure.title) for number, figure in enumerate(experiment.figures)]
        if experiment.numbers:
            links.append((f"numbers-of-{name}", NUMBERS_TITLE))
        if blocks(experiment.preparation) or remarks(experiment.preparation):
            links.append((f"preparation-{name}", "Data preparation"))
        groups.append((experiment.title, links))
        groups += [
            (section, [(_place(experiment, table), table.spec.title) for table in entries])
            for section, entries in by_section(experiment.tables)
        ]
    parts = {
        ("overview", "How it works"): report.figures,
        ("left-out", "What was left out, and why"): report.notes,
        ("provenance", "Provenance"): True,
        ("cautions", "Cautions"): report.cautions,
        ("again", "Run it again"): report.rerun,
    }
    return [*groups, ("This report", [link for link, there in parts.items() if there])]


def _experiment(experiment: ExperimentReport) -> dict[str, object]:
    """What the page says of an experiment: what ran, what came out, and how sure it is, before all else."""
    name, board = experiment.name, None
    if experiment.leaderboard is not None and len(experiment.leaderboard):
        board = _grid(experiment.leaderboard, LEADERBOARD, f"leaderboard-{name}", controls="Reference: ")
    names = [method_name(key, experiment.display) for key in experiment.methods]
    facts = [(key, value) for key, value in experiment.facts.items() if key not in OPENING and value]
    shown, absent = number_rows(experiment.numbers) if experiment.numbers else (pd.DataFrame(), "")
    prepared = [
        _grid(frame, caption, f"preparation-{name}-{number}")
        for number, (caption, frame) in enumerate(blocks(experiment.preparation))
    ]
    drawn = [_figure(figure, f"{name}-{number}") for number, figure in enumerate(experiment.figures)]
    settings = pd.DataFrame(flat_settings(experiment.settings), columns=["Key", "Value"])
    return {
        "name": name,
        "title": experiment.title,
        "question": QUESTION if experiment.findings else "",
        "statement": DEMO_STATEMENT if experiment.is_demo else "",
        "opening": [
            (experiment.kind, name),
            ("Corpus", experiment.dataset),
            ("Authors, each one client", experiment.facts.get("Clients", "")),
            *((key, value) for key, value in experiment.facts.items() if key in OPENING),
            ("Seeds", ", ".join(str(seed) for seed in experiment.seeds)),
            # The table of all methods names them, where there is one.
            ("Methods", str(len(names)) if board else ", ".join(names)),
        ],
        "cautions": experiment.cautions,
        "findings": experiment.findings,
        "sample": experiment.sample,
        "gallery": experiment.gallery,
        "next": NEXT[experiment.is_demo].format(name=name),
        "board": board,
        "methods": json.dumps([unmarked(method) for method in names]),
        "figures": drawn[: OPEN_FIGURES + 1],
        "further": drawn[OPEN_FIGURES + 1 :],
        "facts": facts,
        "tables": [_table(experiment, table) for table in experiment.tables if table.spec.label in OPEN_TABLES],
        "sections": [
            (section, re.sub(r"\W+", "-", section.lower()), [_table(experiment, table) for table in tables])
            for section, tables in by_section(
                [table for table in experiment.tables if table.spec.label not in OPEN_TABLES]
            )
        ],
        "numbers": _grid(shown, NUMBERS_CAPTION, f"numbers-{name}") if experiment.numbers else None,
        "absent": absent,
        "prepared": prepared or remarks(experiment.preparation),
        "remarks": remarks(experiment.preparation),
        "preparation": prepared,
        "settings": _grid(settings, "Resolved values of every choice", f"settings-{name}", text=True),
    }


def _grid(frame: pd.DataFrame, caption: str, name: str, text: bool = False, controls: str = "") -> dict[str, object]:
    """A table of texts; ``name``: of its caption within the page, ``text``: whether its cells are sentences.

    controls: rows whose first cell begins with it, if it is any, are set apart.
    """
    rows = frame.astype(str).to_numpy().tolist()
    return {
        **{"name": name, "caption": caption, "columns": list(map(str, frame.columns)), "rows": rows},
        **{"text": text, "controls": controls},
    }


# Families that score what methods wrote after the authors' own prompts.
OF_OUTPUTS = {
    *("assistant", "copying", "diversity", "drift", "geometry", "mauve", "measure_agreement", "profiles"),
    *("prototypes", "utility", "verification", "voice_kept"),
}


def _place(experiment: ExperimentReport, table: ReportTable) -> str:
    return f"table-{experiment.name}-{table.spec.label}"


def _table(experiment: ExperimentReport, table: ReportTable) -> dict[str, object]:
    """What the page says of a table; ``missing`` says why there is nothing to show."""
    found: dict[str, object] = {
        "name": _place(experiment, table),
        "title": table.spec.title,
        "missing": nothing_to_show(table),
    }
    if found["missing"]:
        return found
    agreements = agreement(table.spec, table.cells)
    name = f"agreement-{experiment.name}-{table.spec.label}"
    passed = {}
    if OF_OUTPUTS & set(table.spec.sources):
        passed = {
            unmarked(method_name(key, experiment.display)): f"{kept} of {texts}"
            for key, (kept, texts) in experiment.passed.items()
        }
    return found | {
        "label": table.spec.label,
        "shown": html_table(table.spec, table.cells, table_note(experiment, table), passed),
        "files": [(kind, table_file(experiment, table, kind)) for kind in ("parquet", "tex", "html")],
        "paper": table.spec.paper,
        "agreement": _grid(
            agreement_rows(agreements), f"{table.spec.title}: order of the methods, ours against the paper's", name
        )
        if len(agreements)
        else None,
    }


def _figure(figure: Figure, identifier: str) -> dict[str, object]:
    numbers = f"The numbers drawn are in {figure.drawn}." if figure.drawn else ""
    drawing = inline_svg(figure.svg, identifier, f"{figure.title}. {figure.caption}", numbers)
    finding, alone = said(figure)
    return {
        "name": f"figure-{identifier}",
        "title": figure.title,
        "caption": figure.caption,
        "finding": finding,
        "drawing": "" if alone else drawing,
        "drawn": figure.drawn,
        "data": [Path(path) for path in figure.data],
    }
