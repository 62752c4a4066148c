"""One run a results folder; the lock of a killed run, and the marks of its jobs, hold nobody up."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from favor.foundation.errors import UserError
from favor.running.folder.occupancy import (
    RESULTS_VARIABLE,
    RUN_LOCK,
    RUN_VARIABLE,
    at_work,
    occupy,
    remove_stale_locks,
)

HOLD = """
import sys, time
from pathlib import Path
from favor.running.folder.occupancy import at_work, name_results, occupy
results = Path(sys.argv[2])
name_results(results)
if sys.argv[1] == "run":
    assert occupy(results)
    assert occupy(results)  # parsed again in one process
    print("ready", flush=True)
    time.sleep(600)
with at_work():
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other(repository, tmp_path, monkeypatch) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    monkeypatch.setenv(RUN_VARIABLE, "")  # put back afterwards, whatever the test occupies
    monkeypatch.delenv(RUN_VARIABLE)
    started = []

    def start(what) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(repository / "src")}
        command = [sys.executable, "-c", HOLD, what, str(tmp_path)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_second_run_is_refused_until_the_first_is_killed(tmp_path, other) -> None:
    first = other("run")
    with pytest.raises(UserError, match=rf"another run is at work there \(process {first.pid} on .*, started 20"):
        occupy(tmp_path)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert (tmp_path / RUN_LOCK).exists()
    assert occupy(tmp_path)


def test_a_job_that_outlives_its_run_is_waited_for_and_a_dead_one_is_not(tmp_path, other) -> None:
    run, job = other("run"), other("job")
    run.send_signal(signal.SIGKILL)
    run.wait()
    with pytest.raises(UserError, match=rf"\(process {run.pid} on .*\), or jobs that it left; wait until they end"):
        occupy(tmp_path)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert occupy(tmp_path)


def test_a_job_whose_run_was_replaced_does_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path))
    monkeypatch.setenv(RUN_VARIABLE, "process 1 on a, started 2026-01-01 00:00:00")
    (tmp_path / RUN_LOCK).write_text("process 1 on a, started 2026-01-01 00:00:00\n")
    with at_work():
        pass
    (tmp_path / RUN_LOCK).write_text("process 2 on a, started 2026-01-01 00:00:01\n")
    with pytest.raises(UserError, match="another took its place"), at_work():
        pytest.fail("the job went on")


def test_a_lock_that_cannot_be_opened_is_named(tmp_path) -> None:
    (tmp_path / RUN_LOCK).mkdir()
    with pytest.raises(UserError, match=r"\.run\.lock: cannot be opened"):
        occupy(tmp_path)


def test_only_locks_on_the_own_results_are_removed(tmp_path, capsys) -> None:
    (tmp_path / "0.output.lock").write_text("results/a/b.parquet\nresults/c\n")
    (tmp_path / "0.input.lock").write_text("corpus.csv\nresults/a/b.parquet\n")
    (tmp_path / "1.output.lock").write_text("results2/a/b.parquet\nother/results/c\n")
    (tmp_path / "2.output.lock").write_text("")
    remove_stale_locks(tmp_path, "results")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.output.lock", "2.output.lock"]
    assert capsys.readouterr().err.count("left by a run that was killed; removed") == 2
    remove_stale_locks(tmp_path / "nowhere", "results")
