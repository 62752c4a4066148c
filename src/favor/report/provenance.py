"""``provenance.json`` and ``provenance.html`` beside the report, written when a run ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json, write_text
from favor.running.folder.output_record import read_record, write_record
from favor.running.folder.run_record import NAMES, describe_run, stages
from favor.tables.cells import DASH
from favor.tables.escape import html_text
from favor.tables.style import page


def record_run(workflow: Any, results: Path, root: Path, ended: str) -> None:
    """Add a run that made something to the provenance of ``results``; files of these names that are yours stay.

    ``workflow``: Snakemake's. ``root``: the checkout. ``ended``: "finished" or "failed".
    """
    rules = [job.rule.name for job in workflow.dag.finished_jobs if not job.rule.norun]
    if not rules:
        return
    made = read_record(results) or set()
    data, shown = (results / name for name in NAMES)
    theirs = [path for name, path in zip(NAMES, (data, shown), strict=True) if path.exists() and name not in made]
    if theirs:
        print(f"{theirs[0]} is not the workflow's: the run is not put on record. Move it away.", file=sys.stderr)
        return
    try:
        earlier = read_json(data)["runs"] if data.exists() else []
    except UserError:  # cut off on a full disk: begun again
        earlier = []
    seconds = time.time() - psutil.Process().create_time()
    found = {
        "runs": [*earlier, describe_run(root, rules, seconds, ended)],
        "stages": stages(results / "benchmarks"),
        "gguf": {path.parents[1].name: read_json(path) for path in sorted(results.glob("models/*/base/gguf.json"))},
    }
    try:
        write_record(results, made | set(NAMES))
        write_json(found, data)
        write_text(provenance_page(found), shown)
    except OSError as error:  # a full disk may be why the run failed
        print(f"{data} cannot be written ({error.strerror}): the run is not put on record.", file=sys.stderr)


def provenance_page(found: Mapping[str, Any]) -> str:
    """Return the page of ``{"runs": ..., "stages": ...}`` (:mod:`favor.running.folder.run_record`)."""
    runs = [_run(number, run) for number, run in enumerate(found["runs"], start=1)][::-1]
    rows = [
        (
            stage["stage"],
            str(stage["jobs"]),
            lasting(stage["seconds"]),
            lasting(stage["longest"]),
            DASH if stage["peak_mb"] is None else f"{stage['peak_mb']:,.0f}",
        )
        for stage in found["stages"]
    ]
    head = ("Stage", "Jobs", "Time in all", "Longest job", "Peak memory (MB)")
    total = lasting(sum(stage["seconds"] for stage in found["stages"]))
    caption = f"Time and peak memory of the jobs behind these results, as last run: {total} of jobs in all. "
    caption += "Memory counts libraries that jobs share in each of them."
    return page(
        "Provenance",
        "<h1>Provenance</h1><p>What made these results, when and where. It names a machine and a command line: look "
        'through it before you pass it on. <a href="report.html">The report</a> holds nothing of it.</p>'
        f"<h2>Stages</h2>{_table(head, rows, caption)}{_files(found.get('gguf', {}))}"
        f"<h2>Runs, last first</h2>{''.join(runs)}",
    )


def _files(gguf: Mapping[str, Any]) -> str:
    """Return which files base models were dequantised from, where there are any."""
    items = "".join(
        f"<dt>{html_text(name)}</dt>"
        f"<dd>{html_text(file['file'])}, {file['bytes']:,} bytes, SHA-256 {file['sha256']}</dd>"
        for name, file in gguf.items()
    )
    return f'<h2>Base models from GGUF files</h2><dl class="facts">{items}</dl>' if items else ""


def _run(number: int, run: Mapping[str, Any]) -> str:
    changes = {None: "not known", True: "with uncommitted changes", False: "without uncommitted changes"}
    machine, jobs = run["machine"], run["jobs"]
    commit = (
        "not a git checkout" if run["commit"] is None else f"{run['commit']}, {changes[run['uncommitted_changes']]}"
    )
    facts = {
        "Ended": f"{run['finished']} ({run['ended']}, after {lasting(run['seconds'])})",
        "Command": run["command"],
        "Version": run["version"] or "not known",
        "Commit": commit,
        "Machine": f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB",
        "System": machine["system"],
        "GPUs": ", ".join(machine["gpus"]) or "none",
        "Python": machine["python"],
        "Jobs": ", ".join(f"{count} {rule}" for rule, count in jobs.items()),
    }
    items = "".join(f"<dt>{name}</dt><dd>{html_text(str(value))}</dd>" for name, value in facts.items())
    return f'<h3>Run {number}: {sum(jobs.values())} jobs</h3><dl class="facts">{items}</dl>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    heads = "".join(f'<th scope="col"{" class=stub" if not n else ""}>{name}</th>' for n, name in enumerate(head))
    lines = "".join(
        f'<tr><th scope="row">{html_text(first)}</th>{"".join(f"<td>{value}</td>" for value in others)}</tr>'
        for first, *others in rows
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-labelledby="stages"><table><caption id="stages">'
        f"{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def lasting(seconds: float) -> str:
    """Return a duration: "41 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s" if minutes else f"{whole} s"
