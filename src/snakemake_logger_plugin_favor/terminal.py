"""What a run prints: a line per job that begins, with the time the run still needs, and its errors at the end.

Everything that Snakemake says is in its own log, below ``.snakemake/log``.
"""

import logging
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_favor.remaining import Remaining, seconds_of, spoken

# Jobs that see it leave their errors to the end of the run, and write them to their logs alone.
ERRORS_LAST = "FAVOR_ERRORS_LAST"
_INTERRUPTED = "Terminating processes on user request"
_NOTHING = "Nothing to be done"
_FAILED = "At least one job did not complete successfully."


class Terminal(LogHandlerBase):
    """Prints a run's jobs in a line each, its warnings, and last its errors, also in a line each."""

    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter, needs_rulegraph = True, True, False

    def __post_init__(self) -> None:
        """Tell the jobs to come that their errors are printed here."""
        os.environ[ERRORS_LAST] = "1"
        self._benchmarks: Path | None = None
        self._tracks: Mapping[str, str] = {}
        self._remaining = Remaining({}, self._earlier, 0.0)
        self._begun: dict[int, tuple[str, float]] = {}
        self._failed: dict[int, tuple[str, str]] = {}
        self._errors: list[str] = []
        self._interrupted = False

    def describe(self, benchmarks: Path, tracks: Mapping[str, str]) -> None:
        """Take what the workflow knows of its jobs.

        benchmarks: the folder with Snakemake's measurements of earlier jobs, by rule.
        tracks: what to print of a shared track, by its name.
        """
        self._benchmarks, self._tracks = benchmarks, tracks

    def _earlier(self, rule: str) -> float | None:
        return None if self._benchmarks is None else seconds_of(self._benchmarks / rule)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a user reads of ``record``, if anything."""
        event, now = getattr(record, "event", None), time.monotonic()
        told: Any = record  # Snakemake puts the fields of an event beside the standard library's
        text = str(record.msg or "")
        if event == LogEvent.RUN_INFO:
            planned = {rule: count for rule, count in told.stats.items() if rule != "total"}
            self._remaining = Remaining(planned, self._earlier, now)
            if self.common_settings.dryrun:
                self._print(text)
        elif event == LogEvent.JOB_INFO and not self.common_settings.dryrun:
            self._begun[told.jobid] = told.rule_name, time.time()
            self._remaining.begin(told.jobid, told.rule_name, now)
            self._print(self._line(told.rule_name, told.wildcards, now))
        elif event == LogEvent.JOB_FINISHED:
            self._remaining.finish(told.job_id, now)
            self._failed.pop(told.job_id, None)  # at a second try
        elif event is None and text.startswith(_INTERRUPTED):
            self._interrupted = True
        elif event == LogEvent.JOB_ERROR:
            self._remaining.running.pop(told.jobid, None)  # it may begin again
            self._failed[told.jobid] = told.rule_name, self._reason(told)
            if self._remaining.running and not self._interrupted:
                self._print(f"{time.strftime('%H:%M:%S')}  failed: {told.rule_name}; what else runs goes on")
        elif event == LogEvent.ERROR or (event is None and record.levelno >= logging.ERROR):
            self._errors.append(text)
        elif event is None and (record.levelno >= logging.WARNING or text.startswith(_NOTHING)):
            self._print(text)

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

    def _reason(self, told: Any) -> str:
        """Return the line with which a failed job ended its log; "" where it left none."""
        rule, begun = self._begun.get(told.jobid, (told.rule_name, 0.0))
        for path in map(Path, told.log[:1]):
            # A log that is older than the job is of an earlier try.
            if path.is_file() and path.stat().st_mtime > begun - 1:
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
                return next((line for line in reversed(lines) if line.startswith(f"error in {rule}: ")), "")
        return ""

    def close(self) -> None:
        """Print the errors: those of jobs, or Snakemake's own where no job says why. Ctrl-C is none."""
        if self._interrupted:
            self._failed, self._errors = {}, []
        reasons = list(dict.fromkeys(reason for _, reason in self._failed.values()))
        silent = [rule for rule, reason in self._failed.values() if not reason]
        if not self._failed or silent:
            for error in self._errors:
                if not (self._failed and _FAILED in error):
                    self._print(error)
        for line in filter(None, reasons):
            self._print(line)
        for rule in dict.fromkeys(silent):
            self._print(f"error in {rule}: it ended without saying why (was it killed, or out of memory?)")
        self._failed, self._errors = {}, []
        super().close()

    def _print(self, line: str) -> None:
        # Words of others cannot steer the terminal.
        line = "".join(sign if sign.isprintable() or sign in "\n\t" else f"\\u{ord(sign):04x}" for sign in line)
        print(line, file=sys.stdout if self.common_settings.dryrun else sys.stderr, flush=True)
