"""``provenance.json`` and ``provenance.html`` beside the report, written when a run ends."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json, write_text
from favor.foundation.html import render
from favor.running.folder.output_record import read_record, write_record
from favor.running.folder.run_record import NAMES, describe_run, stages
from favor.tables.cells import DASH
from favor.tables.html import page


def record_run(workflow: Any, results: Path, root: Path, ended: str) -> None:
    """Add a run that made something to the provenance of ``results``; files of these names that are yours stay.

    ``workflow``: Snakemake's. ``root``: the checkout. ``ended``: "finished" or "failed".
    """
    rules = [job.rule.name for job in workflow.dag.finished_jobs if not job.rule.norun]
    if not rules:
        return
    made = read_record(results)
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
    stages = [
        (each["stage"], each["jobs"], lasting(each["seconds"]), lasting(each["longest"]), peak)
        for each in found["stages"]
        for peak in [DASH if each["peak_mb"] is None else f"{each['peak_mb']:,.0f}"]
    ]
    files = [
        (name, f"{file['file']}, {file['bytes']:,} bytes, SHA-256 {file['sha256']}")
        for name, file in found.get("gguf", {}).items()
    ]
    body = render(
        Path(__file__).parent / "templates/provenance",
        "provenance.html",
        runs=[(number, *_run(run)) for number, run in enumerate(found["runs"], start=1)][::-1],
        stages=stages,
        files=files,
        total=lasting(sum(stage["seconds"] for stage in found["stages"])),
    )
    return page("Provenance", body)


def _run(run: Mapping[str, Any]) -> tuple[int, list[tuple[str, Any]]]:
    """How many jobs a run had, and what is said of it."""
    changes = {None: "not known", True: "with uncommitted changes", False: "without uncommitted changes"}
    machine, jobs, commit = run["machine"], run["jobs"], "not a git checkout"
    if run["commit"] is not None:
        commit = f"{run['commit']}, {changes[run['uncommitted_changes']]}"
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
    return sum(jobs.values()), list(facts.items())


def lasting(seconds: float) -> str:
    """Return a duration: "41 s", "3 min 20 s", "2 h 5 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
