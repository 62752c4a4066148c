"""The last lines of a run on the terminal: what was made, the headline, what is missing, what to open, what is next."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.report.content import NEXT
from favor.report.facts import Facts
from favor.report.findings import findings
from favor.report.provenance import record_run
from favor.report.settings import PrintedExperiment
from favor.running.jobs.environment import latex_available


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
    count = f"{tables} {'table' if tables == 1 else 'tables'}"
    lines = [f"Made: {count} of {', '.join(experiments)}, numbers.json, the adapters of every run."]
    for name, values in experiments.items():
        if (results / name / "evidence.parquet").is_file():
            facts = Facts.read(results / name, values)
            lines.append(f"{name}{' (a demo: it says nothing about the methods)' if demo else ''}:")
            lines += [f"- {sentence}" for sentence in findings(facts)]
    if not latex:
        lines.append("Missing: report.pdf and report.card.pdf, because LaTeX (pdflatex) is not installed.")
    lines.append(f"Open: {results / 'report.html'}")
    return [*lines, f"Next: {NEXT[demo].format(name=next(iter(experiments)))}"]
