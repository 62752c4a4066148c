"""One line per job on the terminal, all of Snakemake's own in its log, and the time that a run still needs."""

from __future__ import annotations

import io
import logging

import pytest
from snakemake.logging import ColorizingTextHandler, DefaultFormatter, logger
from snakemake_interface_logger_plugins.common import LogEvent

from favor.running.jobs import job_lines
from favor.running.jobs.job_lines import Remaining, one_line_per_job, seconds_of, spoken


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
    run.abandon(3)
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


def test_the_terminal_gets_a_line_and_the_log_everything(monkeypatch, tmp_path) -> None:
    terminal, log = io.StringIO(), io.StringIO()
    handlers = [ColorizingTextHandler(nocolor=True, stream=terminal), logging.StreamHandler(log)]
    for handler in handlers:
        handler.setFormatter(DefaultFormatter())
    handlers[0].name = "DefaultStreamHandler"
    monkeypatch.setattr(logger, "handlers", handlers)
    monkeypatch.setattr(logger, "level", logging.INFO)
    monkeypatch.setattr(job_lines.time, "strftime", lambda form: "12:00:00")
    for _ in range(2):  # a Snakefile may be read twice
        one_line_per_job(tmp_path, {"task-1f": "task-1f (FedAvg)"})

    def tell(text, event=None, **fields) -> None:
        logger.info(text, extra={"event": event, **fields} if event else {})

    job = {
        **dict.fromkeys(("rule_msg", "reason", "benchmark", "shellcmd"), ""),
        **{"local": True, "is_checkpoint": False, "priority": 0, "threads": 1, "resources": {}, "indent": False},
        **{"input": ["a.parquet"], "output": ["b.parquet"], "log": [], "jobid": 3, "rule_name": "train_shared"},
    }
    tell("Job stats", LogEvent.RUN_INFO, stats={"train_shared": 2, "total": 2})
    tell("Select jobs to execute...")
    tell("Execute 1 jobs...", LogEvent.JOB_STARTED, jobs=[3])
    wildcards = {"experiment": "demo", "seed": "7", "track": "task-1f", "next_round": "1"}
    tell("", LogEvent.JOB_INFO, wildcards=wildcards, **job)
    tell("Finished jobid: 3", LogEvent.JOB_FINISHED, job_id=3)
    for done in (1, 2):
        tell(None, LogEvent.PROGRESS, done=done, total=2)
    tell("The end")
    assert terminal.getvalue().splitlines() == [
        "Job stats",
        "12:00:00  1/2 train_shared: demo, seed 7, task-1f (FedAvg), next round 1",
        "2 of 2 steps (100%) done",
        "The end",
    ]
    for text in ("localrule train_shared:", "input: a.parquet", "Finished jobid: 3", "1 of 2 steps", "Execute 1 jobs"):
        assert text in log.getvalue()
