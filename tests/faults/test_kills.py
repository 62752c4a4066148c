"""SIGKILL of a random running job, and of all of Snakemake, at random moments; then a rerun, which needs no other help.

FAVOR_KILLS sets the number of moments (25; 2 in ``make test-all``), FAVOR_KILLS_SEED their seed. A moment is a
number of jobs to let start and a time to wait then, so that it falls on the same work on a busy machine too.
"""

import os
import random
import signal
import time

import psutil
import pytest

from favor.foundation.files import PARTIAL
from favor.running.folder.leftovers import is_truncated
from tests.faults.conftest import completes, ended, jobs_of, start, wait_for
from tests.shortest import contents, fresh_project, jobs_begun

pytestmark = pytest.mark.slow(123)

KILLS = int(os.environ.get("FAVOR_KILLS", "25"))
SEED = int(os.environ.get("FAVOR_KILLS_SEED", "1"))
MOST_JOBS, LONGEST_WAIT = 9, 4.0


def disturb(project, draw, what) -> bool:
    """Start a run and kill ``what`` ("job" or "tree") at a drawn moment; false where the run ended before."""
    jobs, pause = draw.randint(1, MOST_JOBS), draw.uniform(0, LONGEST_WAIT)
    process = start(project)

    def begun() -> bool:
        return process.poll() is not None or len(jobs_begun("".join(process.printed))) >= jobs

    wait_for(begun)
    time.sleep(pause)
    killed = False
    if what == "tree" and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    elif what == "job":
        wait_for(lambda: process.poll() is not None or jobs_of(process))
        for job in draw.sample(found := jobs_of(process), len(found[:1])):
            try:
                job.kill()
                killed = True
            except psutil.NoSuchProcess:
                continue
    output = ended(process)
    if what == "tree":  # which may have been ending when the signal came
        killed = process.returncode == -signal.SIGKILL
    assert killed or process.returncode == 0, output[-4000:]
    return killed and process.returncode != 0


def is_snakemakes(path, results) -> bool:
    """Whether a file is the empty one that Snakemake makes of a log which a killed job did not write."""
    return results / "logs" in path.parents and path.stat().st_size == 0


def test_every_rerun_after_a_sigkill_gives_the_same_bytes(finished, repository, tmp_path) -> None:
    draw = random.Random(SEED)
    undisturbed = contents(finished)
    left, folder, reruns = KILLS, 0, 0
    while left:
        project = fresh_project(repository, tmp_path / f"project{folder}")
        folder += 1
        while left and disturb(project, draw, "tree" if left % 2 else "job"):
            left -= 1
            reruns += 1
            results = project.folder / "results"
            whole = [path for path in results.rglob("*") if path.is_file() and not path.name.endswith(PARTIAL)]
            assert not [path for path in whole if is_truncated(path) and not is_snakemakes(path, results)]
        output = completes(project)
        assert "Traceback" not in output
        assert contents(project) == undisturbed
        assert not [path for path in (project.folder / "results").rglob("*") if path.name.endswith(PARTIAL)]
    assert reruns == KILLS


def gone(process) -> bool:
    """Whether a process has ended; one that nobody waits for any more is unknown."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def holds_the_lock(process) -> bool:
    return any(file.path.endswith("results/.run.lock") for file in process.open_files())


def test_a_job_that_outlives_its_run_is_waited_for(finished, project) -> None:
    name = "short/seed1/favor/clients/last/batch0.safetensors"
    (project.folder / "results" / name).unlink()
    first = start(project, f"results/{name}")
    (job,) = wait_for(lambda: [job for job in jobs_of(first) if holds_the_lock(job)])
    job.suspend()
    first.kill()
    first.wait()
    second = start(project, f"results/{name}", warm=True)
    output = ended(second)
    assert second.returncode == 1
    assert f"another run is at work there (process {first.pid} on " in output
    assert "or jobs that it left; wait until they end" in output
    assert "Traceback" not in output
    job.resume()
    wait_for(lambda: gone(job))
    output = completes(project, f"results/{name}")
    assert "left by a run that was killed; removed" in output
    ended(first)
    assert contents(project) == contents(finished)


def test_a_killed_job_is_named_in_lines_and_the_rest_is_made_by_the_next_start(project) -> None:
    name = "short/seed1/favor/generations.parquet"
    (project.folder / "results" / name).unlink()
    process = start(project, f"results/{name}")
    wait_for(lambda: jobs_of(process))[0].kill()
    output = ended(process)
    assert process.returncode == 1
    assert "Error in rule generate:" in output
    assert "died with <Signals.SIGKILL: 9>" in output
    assert "Traceback" not in output
    completes(project, f"results/{name}")
