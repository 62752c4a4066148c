"""Runs one side of a comparison in one process or several, which share the work and the cores and start together."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def share(work: Sequence[Item], part: str | None) -> list[Item]:
    """Return the share of one process; ``part`` is "number/processes", None stands for the only one."""
    number, processes = map(int, part.split("/")) if part else (0, 1)
    return list(work[number::processes])


def timed(work: Callable[[], Result], part: str | None) -> tuple[Result, dict[str, float]]:
    """Do ``work`` once all processes of the side are ready; return its result and when it started and ended."""
    if part:
        print("ready", flush=True)
        sys.stdin.readline()
    processor, started = time.process_time(), time.monotonic()
    result = work()
    ended = time.monotonic()
    spent = time.process_time() - processor
    return result, {"started": started, "ended": ended, "seconds": ended - started, "processor_seconds": spent}


def run(script: str, side: str, processes: int, threads: int) -> dict[str, Any]:
    """Run ``script`` with this command's arguments for one ``side``, print a line of its figures and return them.

    ``threads`` are shared by the processes. Seconds are from the first start to the last end; memory is the sum of the
    processes' peaks. ``outputs`` are in the order of the whole work.
    """
    own = ["--side", side, "--threads", str(threads // processes)]
    running = [
        subprocess.Popen(
            [sys.executable, script, *sys.argv[1:], *own, "--part", f"{number}/{processes}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        while process.stdout.readline() not in ("ready\n", ""):
            pass
    rows = []
    for process in running:
        assert process.stdin is not None
        process.stdin.write("start\n")
        process.stdin.flush()
    for process in running:
        printed, _ = process.communicate()
        if process.returncode:
            sys.exit(f"{script} --side {side}: exit status {process.returncode}")
        rows.append(json.loads(printed.splitlines()[-1]))
    found: dict[str, Any] = {key: sum(row[key] for row in rows) for key in ("tokens", "processor_seconds", "peak_mib")}
    found["seconds"] = max(row["ended"] for row in rows) - min(row["started"] for row in rows)
    found["outputs"] = [text for turn in zip(*(row.get("outputs", ()) for row in rows), strict=True) for text in turn]
    print(
        f"{side:10} {processes} x {threads // processes} threads {found['tokens'] / found['seconds']:10,.0f} tokens/s "
        f"{found['seconds']:8.1f} s {found['processor_seconds']:8.1f} processor s  peak {found['peak_mib']:8,.0f} MiB",
        flush=True,
    )
    return found


def compare(script: str, side: str, name: str, options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run another ``side``, called ``name``, and ours; print the gains and return the figures of both.

    Ours runs as the workflow does: on a CPU a process per thread. The other has all threads in one process, and is then
    split in the same way.
    """
    jobs = 1 if options.device == "cuda" else options.threads
    loop, stacked = run(script, side, 1, options.threads), run(script, "stacked", jobs, options.threads)
    _print_gain(name, stacked, loop)
    if jobs > 1:
        _print_gain(f"{name} in {jobs} processes", stacked, run(script, side, jobs, options.threads))
    return loop, stacked


def _print_gain(name: str, ours: dict[str, Any], other: dict[str, Any]) -> None:
    """Print what ``ours`` gains over the ``other`` side, called ``name``."""
    print(
        f"stacked against {name}: {other['seconds'] / ours['seconds']:.2f}x the tokens/s, "
        f"{other['processor_seconds'] / ours['processor_seconds']:.2f}x per processor second, "
        f"{ours['peak_mib'] / other['peak_mib']:.2f}x the peak memory"
    )
