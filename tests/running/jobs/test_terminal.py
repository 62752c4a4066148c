"""What a run prints: a line per job, the time that is left, warnings, and errors last, through Snakemake's logger."""

import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from snakemake.logging import LoggerManager, logger
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from favor.running.jobs.job_log import ERRORS_LAST
from snakemake_logger_plugin_favor import terminal
from snakemake_logger_plugin_favor.remaining import Remaining, seconds_of, spoken


def test_the_time_left_by_hand() -> None:
    run = Remaining({"train": 3, "score": 2}, lambda rule: None, now=0.0)
    run.begin(1, "train", 0.0)
    run.begin(2, "train", 0.0)
    assert run.seconds(5.0) is None
    run.finish(1, 10.0)
    run.finish(2, 20.0)
    # One rule of a known mean, 15 s, but one job of it to come beside two of another.
    assert run.seconds(20.0) is None
    run.begin(3, "train", 20.0)
    run.begin(4, "score", 20.0)
    run.finish(4, 24.0)
    # 15 + 4 s to come, 4 s of them spent; 10 + 20 + 4 + 4 s of work in 24 s.
    assert run.seconds(24.0) == pytest.approx(15 * 24 / 38)
    # What takes longer than its like is as good as done, and what failed is to be done again.
    assert run.seconds(44.0) == pytest.approx(4 * 44 / 58)
    del run.running[3]
    assert run.seconds(44.0) == pytest.approx(19.0)


def test_an_earlier_run_says_what_a_rule_takes(tmp_path) -> None:
    folder = tmp_path / "train"
    folder.mkdir()
    for number, seconds in enumerate((2.0, 4.0)):
        (folder / f"{number}.tsv").write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:02\t900\n")
    (tmp_path / "report.tsv").write_text("s\th:m:s\n7.5\t0:00:07\n")
    assert [seconds_of(tmp_path / rule) for rule in ("train", "report", "score")] == [3.0, 7.5, None]
    run = Remaining({"train": 2}, lambda rule: seconds_of(tmp_path / rule), now=0.0)
    run.begin(1, "train", 0.0)
    run.finish(1, 2.0)
    assert run.seconds(2.0) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(20, "under a minute"), (100, "about 2 min"), (7_830, "about 2 h 10 min"), (3_590, "about 1 h 0 min")],
)
def test_durations_as_one_says_them(seconds, words) -> None:
    assert spoken(seconds) == words


JOB = {"rule_name": "train_shared", "wildcards": {}, "log": []}


@pytest.fixture
def said(monkeypatch, capsys) -> Iterator[Callable[..., list[str]]]:
    """Snakemake's own logger with ours as its plugin: logs events, and returns what was printed when it has stopped."""
    monkeypatch.setattr(terminal.time, "strftime", lambda form: "12:00:00")
    monkeypatch.delenv(terminal.ERRORS_LAST, raising=False)

    def log(*events, dryrun=False, described=()) -> list[str]:
        settings = OutputSettings(dryrun=dryrun, stdout=dryrun)
        log_handler_settings = {"favor": LoggerPluginRegistry().get_plugin("favor").get_settings(Namespace())}
        settings = replace(settings, log_handler_settings=log_handler_settings)
        manager = LoggerManager(logger, settings)
        for handler in manager.get_log_handlers():
            handler.describe(*described or (Path("none"), {}))
        for level, text, fields in events:
            logger.log(level, text, extra=fields)
        manager.stop()
        printed = capsys.readouterr()
        assert not (printed.err if dryrun else printed.out)
        return (printed.out or printed.err).splitlines()

    yield log
    os.environ.pop(terminal.ERRORS_LAST, None)


def told(event, text="", level=logging.INFO, **fields) -> tuple[int, str, dict[str, Any]]:
    return level, text, {"event": event, **fields}


def begin(job, **fields) -> tuple[int, str, dict[str, Any]]:
    return told(LogEvent.JOB_INFO, jobid=job, **JOB | fields)


def fail(job, **fields) -> tuple[int, str, dict[str, Any]]:
    return told(LogEvent.JOB_ERROR, "Error in rule train_shared", logging.ERROR, jobid=job, **JOB | fields)


def plain(text, level=logging.INFO) -> tuple[int, str, dict[str, Any]]:
    return level, text, {}


def test_a_job_is_a_line_and_the_rest_is_for_the_log(said, tmp_path) -> None:
    wildcards = {"experiment": "demo", "seed": "7", "track": "task-1f", "next_round": "1"}
    lines = said(
        told(LogEvent.WORKFLOW_STARTED, "SNAKEMAKE"),
        plain("Building DAG of jobs..."),
        told(LogEvent.RUN_INFO, "Job stats", stats={"train_shared": 2, "total": 2}),
        told(LogEvent.JOB_STARTED, "Execute 1 jobs...", jobs=[3]),
        begin(3, wildcards=wildcards),
        told(LogEvent.SHELLCMD, "rm -rf"),
        told(LogEvent.JOB_FINISHED, "Finished jobid: 3", job_id=3),
        told(LogEvent.PROGRESS, done=1, total=2),
        plain("a file is older than it was", logging.WARNING),
        plain("Nothing to be done (all is there)."),
        plain("Complete log(s): somewhere"),
        described=(tmp_path, {"task-1f": "task-1f (FedAvg)"}),
    )
    assert lines == [
        "12:00:00  1/2 train_shared: demo, seed 7, task-1f (FedAvg), next round 1",
        "a file is older than it was",
        "Nothing to be done (all is there).",
    ]


def test_a_dry_run_is_the_table_of_jobs(said) -> None:
    table = told(LogEvent.RUN_INFO, "Job stats", stats={"train_shared": 2, "total": 2})
    assert said(table, begin(1), plain("This was a dry-run"), dryrun=True) == ["Job stats"]


def test_the_error_of_a_job_is_one_line_after_all_others(said, tmp_path) -> None:
    """Two jobs of a configuration fail for one reason, and another job goes on."""
    log = tmp_path / "job.log"
    log.write_text("corpus: 3 posts\nerror in train_shared: clients: 3 are there, 4 are needed\n")
    lines = said(
        begin(1),
        begin(2),
        begin(3),
        fail(1, log=[str(log)]),
        fail(2, log=[str(log)]),
        told(LogEvent.ERROR, "CalledProcessError in file x.smk, line 3", logging.ERROR, exception="RuleException"),
        plain("training: 30 steps", logging.WARNING),
        told(LogEvent.ERROR, "WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR),
    )
    assert lines[3:] == [
        *["12:00:00  failed: train_shared; what else runs goes on"] * 2,
        "training: 30 steps",
        "error in train_shared: clients: 3 are there, 4 are needed",
    ]


def test_a_failure_that_a_second_try_heals_or_that_ctrl_c_made_is_no_error(said) -> None:
    again = told(LogEvent.JOB_FINISHED, job_id=1)
    assert not [line for line in said(begin(1), fail(1), begin(1), again) if "error" in line]
    stopped = plain("Terminating processes on user request, this might take some time.")
    broken_off = told(LogEvent.ERROR, "died with <Signals.SIGINT: 2>", logging.ERROR)
    assert len(said(begin(1), stopped, broken_off, fail(1))) == 1


def test_a_job_that_says_nothing_is_told_with_what_snakemake_says(said, tmp_path) -> None:
    """A log that an earlier try left is not this job's."""
    log = tmp_path / "job.log"
    log.write_text("error in train_shared: an old one\n")
    os.utime(log, (0, 0))
    lines = said(
        begin(1), fail(1, log=[str(log)]), told(LogEvent.ERROR, "died with <Signals.SIGKILL: 9>", logging.ERROR)
    )
    assert lines[-2:] == [
        "died with <Signals.SIGKILL: 9>",
        "error in train_shared: it ended without saying why (was it killed, or out of memory?)",
    ]


def test_snakemakes_own_error_is_printed_where_no_job_ran(said) -> None:
    assert said(told(LogEvent.ERROR, "LockException:\nError", logging.ERROR)) == ["LockException:", "Error"]


def test_jobs_learn_that_their_errors_are_printed_last(said) -> None:
    assert ERRORS_LAST == terminal.ERRORS_LAST
    said()
    assert os.environ[ERRORS_LAST] == "1"
