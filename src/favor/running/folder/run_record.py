"""The record of every run: commit, command, machine, and the time and memory of every stage.

These differ from run to run, so they stand beside the report and not in it: equal runs make equal reports.
"""

import os
import platform
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

PAGE = "provenance.html"
NAMES = ("provenance.json", PAGE)


def describe_run(root: Path, rules: Iterable[str], seconds: float, ended: str) -> dict[str, object]:
    """Return what a run was: when, how it ended, commit, command, machine, and its jobs by rule.

    root: the checkout. rules: the rule of every finished job. seconds: how long the run took.
    """
    return {
        "ended": ended,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "jobs": dict(sorted(Counter(rules).items())),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        **code_state(root),
        "machine": machine(),
    }


def code_state(root: Path) -> dict[str, object]:
    """Return version, commit, and whether the checkout differs from it; commit and difference are None without git."""
    citation = root / "CITATION.cff"
    version = yaml.safe_load(citation.read_text(encoding="utf-8"))["version"] if citation.is_file() else None
    top = _git(root, "rev-parse", "--show-toplevel")
    own = top is not None and Path(top).resolve() == root.resolve()  # or the folder lies in somebody else's repository
    changed = _git(root, "status", "--porcelain") if own else None
    return {
        "version": version,
        "commit": _git(root, "rev-parse", "HEAD") if own else None,
        "uncommitted_changes": None if changed is None else bool(changed),
    }


def machine() -> dict[str, object]:
    """Return what Snakemake runs on: system, processor, cores, memory in GiB, GPUs, Python; not its name."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpus": (_said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader") or "").splitlines(),
        "python": platform.python_version(),
    }


def stages(benchmarks: Path) -> list[dict[str, Any]]:
    """Return jobs, seconds in all, the longest job's seconds and the peak memory in MB of every rule, longest first.

    Of what was run more than once, Snakemake keeps the last measurement. Jobs of under a second have no memory.
    """
    found = []
    for rule in sorted({path.relative_to(benchmarks).parts[0].removesuffix(".tsv") for path in _measured(benchmarks)}):
        lines = [line for path in _measured(benchmarks, rule) for line in _read(path)]
        seconds = [float(line["s"]) for line in lines]
        peaks = [float(line["max_rss"]) for line in lines if line.get("max_rss", "-") not in ("-", "NA")]
        if seconds:
            entry = {"stage": rule, "jobs": len(seconds), "seconds": round(sum(seconds), 2), "longest": max(seconds)}
            found.append(entry | {"peak_mb": max(peaks, default=None)})
    return sorted(found, key=lambda stage: -stage["seconds"])


def _measured(benchmarks: Path, rule: str = "*") -> list[Path]:
    return sorted([*benchmarks.glob(f"{rule}.tsv"), *benchmarks.glob(f"{rule}/*.tsv")])


def _read(path: Path) -> list[dict[str, str]]:
    head, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()] or [[]]
    return [dict(zip(head, line, strict=True)) for line in lines]


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _git(root: Path, *arguments: str) -> str | None:
    return _said("git", "-C", str(root), *arguments)


def _said(*command: str) -> str | None:
    """Return what a command prints; None where it is not installed or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
