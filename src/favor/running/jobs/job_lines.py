"""One line per job on the terminal, with what tells it from others and the time that the whole run still needs.

Snakemake lists every job's inputs, outputs and resources: 3,000 lines of a demo. Its log file keeps them all. Here only
its handler for the terminal is changed, by a filter of the standard library's; a logger plugin of yours stays as it is.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean, median
from typing import Any

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

_TERMINAL = "DefaultStreamHandler"
_ENOUGH = 0.5  # of the jobs to come, those of rules whose durations are known


class Remaining:
    """Estimates the seconds that a run still needs, from the durations of its finished jobs.

    planned: jobs by rule.
    earlier: mean seconds of a rule's jobs in an earlier run, or None.

    A rule whose duration is not known counts as the median rule. Jobs are taken to go on as many at once as until now.
    """

    def __init__(self, planned: Mapping[str, int], earlier: Callable[[str], float | None], now: float) -> None:
        self.planned = planned
        self._start = now
        self._running: dict[int, tuple[str, float]] = {}
        self._took: dict[str, list[float]] = {}
        self._earlier = {rule: seconds for rule in planned if (seconds := earlier(rule)) is not None}

    def begin(self, job: int, rule: str, now: float) -> None:
        """Note that a job begins."""
        self._running[job] = rule, now

    def finish(self, job: int, now: float) -> None:
        """Note that a job has ended."""
        if job in self._running:
            rule, begun = self._running.pop(job)
            self._took.setdefault(rule, []).append(now - begun)

    def abandon(self, job: int) -> None:
        """Note that a job has failed; it may begin again."""
        self._running.pop(job, None)

    def seconds(self, now: float) -> float | None:
        """Return the estimate; None as long as most of the jobs to come are of rules without a known duration."""
        known = self._earlier | {rule: mean(took) for rule, took in self._took.items()}
        finished = Counter({rule: len(took) for rule, took in self._took.items()})
        coming = {rule: count - finished[rule] for rule, count in self.planned.items() if count > finished[rule]}
        covered = sum(count for rule, count in coming.items() if rule in known)
        elapsed = now - self._start
        if not self._took or elapsed <= 0 or covered < _ENOUGH * sum(coming.values()):
            return None
        unknown = median(known.values())
        work = sum(count * known.get(rule, unknown) for rule, count in coming.items())
        work -= sum(min(now - begun, known.get(rule, unknown)) for rule, begun in self._running.values())
        done = sum(map(sum, self._took.values())) + sum(now - begun for _, begun in self._running.values())
        return max(0.0, work) / max(1.0, done / elapsed)


class JobLines(logging.Filter):
    """Lets through what Snakemake says, but for its jobs, of which each begins with one line.

    say: prints a line.
    tracks: what to print of a shared track, by its name.
    earlier: see `Remaining`.
    """

    def __init__(
        self, say: Callable[[str], object], tracks: Mapping[str, str], earlier: Callable[[str], float | None]
    ) -> None:
        super().__init__()
        self._say, self._tracks, self._earlier = say, tracks, earlier
        self._begun: set[int] = set()
        self._remaining = Remaining({}, earlier, 0.0)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether Snakemake's own text of a record is printed."""
        event, now = getattr(record, "event", None), time.monotonic()
        told: Any = record  # Snakemake puts the fields of an event beside the standard library's
        if event == LogEvent.RUN_INFO:
            planned = {rule: count for rule, count in told.stats.items() if rule != "total"}
            self._remaining = Remaining(planned, self._earlier, now)
        elif event == LogEvent.JOB_INFO:
            self._begun.add(told.jobid)
            self._remaining.begin(told.jobid, told.rule_name, now)
            self._say(self._line(told.rule_name, told.wildcards, now))
        elif event == LogEvent.JOB_FINISHED:
            self._remaining.finish(told.job_id, now)
        elif event == LogEvent.JOB_ERROR:
            self._remaining.abandon(told.jobid)
        elif event == LogEvent.PROGRESS:
            return bool(told.done == told.total)
        return event not in (LogEvent.JOB_INFO, LogEvent.JOB_STARTED, LogEvent.JOB_FINISHED) and record.msg != _CHOOSING

    def _line(self, rule: str, wildcards: Mapping[str, str], now: float) -> str:
        what = ", ".join(
            [
                f"{name.replace('_', ' ')} {value}" if value.isdigit() else self._tracks.get(value, value)
                for name, value in wildcards.items()
            ]
        )
        total = sum(self._remaining.planned.values())
        line = f"{time.strftime('%H:%M:%S')}  {len(self._begun)}/{total} {rule}" + (f": {what}" if what else "")
        left = self._remaining.seconds(now)
        return line if left is None else f"{line} | {spoken(left)} left"


_CHOOSING = "Select jobs to execute..."


def spoken(seconds: float) -> str:
    """Return a duration as one says it: "about 2 h 10 min", "about 7 min", "under a minute"."""
    minutes = round(seconds / 60)
    if not minutes:
        return "under a minute"
    hours, rest = divmod(minutes, 60)
    return f"about {hours} h {rest} min" if hours else f"about {rest} min"


def one_line_per_job(benchmarks: Path, tracks: Mapping[str, str]) -> None:
    """Say a run's jobs in one line each on the terminal, unless a logger plugin has taken Snakemake's place there.

    ``benchmarks``: the folder with Snakemake's measurements of earlier jobs, by rule.
    """
    for handler in logger.handlers:
        if handler.name == _TERMINAL and not any(isinstance(known, JobLines) for known in handler.filters):

            def say(line: str, handler: logging.Handler = handler) -> None:
                handler.handle(logging.makeLogRecord({"msg": line, "levelno": logging.INFO, "levelname": "INFO"}))

            handler.addFilter(JobLines(say, tracks, lambda rule: seconds_of(benchmarks / rule)))


def seconds_of(folder: Path, most: int = 20) -> float | None:
    """Return the mean seconds of a rule's jobs of earlier runs, of ``most`` of them; None where no job is on record."""
    found = []
    for path in [*sorted(folder.glob("*.tsv"))[:most], *folder.parent.glob(f"{folder.name}.tsv")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [float(line.split("\t")[0]) for line in lines[1:2]]
    return mean(found) if found else None
