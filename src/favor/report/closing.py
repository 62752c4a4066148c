"""The last lines of a run on the terminal: what was made, the headline, what is missing, what to open, what is next."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.analysis.tables import EVIDENCE
from favor.foundation.parquet import read_parquet
from favor.report.findings import Facts, findings
from favor.report.provenance import record_run
from favor.report.settings import PrintedExperiment
from favor.running.jobs.environment import latex_available
from favor.scores.tables import SCORES


def end_run(workflow: Any, results: Path, root: Path, experiments: Mapping[str, PrintedExperiment]) -> None:
    """Put a run that came to its end on record. If it was one of the report, print its last lines.

    ``experiments``: as the report has them.
    """
    record_run(workflow, results, root, "finished")
    page = results / "report.html"
    asked = workflow.dag_settings.targets
    # Another target (favor check, a single table) leaves a report as an earlier run made it.
    if page.is_file() and (not asked or {"all", str(page)} & set(asked)):
        print(*closing(results, experiments, latex_available()), sep="\n")


def closing(results: Path, experiments: Mapping[str, PrintedExperiment], latex: bool) -> list[str]:
    """Return the last lines of a run that made the report.

    ``experiments``: what the report prints of each, by name. ``latex``: whether the PDF could be made.
    """
    tables = sum(len(values.tables) for values in experiments.values())
    demo = all(values.demo for values in experiments.values())
    lines = [f"Made: {tables} tables of {', '.join(experiments)}, numbers.json, the adapters of every run."]
    for name, values in experiments.items():
        path = results / name / "evidence.parquet"
        if path.is_file():
            files = [path.parent / "scores" / f"{family}.parquet" for family in ("voice_kept", "likelihood")]
            kept, likelihood = (read_parquet(file, SCORES) if file.is_file() else None for file in files)
            evidence, style = read_parquet(path, EVIDENCE), values.style_encoder
            facts = Facts(evidence, kept, style, values.rows, values.clients, values.display, likelihood)
            lines.append(f"{name}{' (a demo: it says nothing about the methods)' if demo else ''}:")
            lines += [f"- {sentence}" for sentence in findings(facts)]
    if not latex:
        lines.append("Missing: report.pdf, because LaTeX (pdflatex) is not installed.")
    lines.append(f"Open: {results / 'report.html'}")
    following = (
        "a configuration of your own corpus (docs/corpora.md)" if demo else "snakemake release (docs/exports.md)"
    )
    return [*lines, f"Next: {following}."]
