"""A clock that is set back leaves files from the future: nothing loops, nothing stale counts as made, same results."""

import os
import time
from pathlib import Path

import pytest

from tests.faults.conftest import completes, ended, in_jobs, remove, start
from tests.shortest import contents, jobs_begun

pytestmark = pytest.mark.slow(15)

HOUR = 3600
PERSONAL = "short/seed1/favor/clients/last/batch0.safetensors"
GENERATED = "short/seed1/favor/generations.parquet"


def test_work_goes_on_after_the_clock_was_set_back(finished, project) -> None:
    remove(project, [PERSONAL, GENERATED])
    for path in filter(Path.is_file, (project.folder / "results").rglob("*")):
        found = path.stat().st_mtime_ns + 100 * HOUR * 10**9
        os.utime(path, ns=(found, found))
    output = completes(project, f"results/{GENERATED}")
    assert "train_personal" in jobs_begun(output)
    assert "train_shared" not in jobs_begun(output)
    assert contents(project) == contents(finished)
    assert "Nothing to be done" in completes(project, f"results/{GENERATED}")


def test_a_clock_set_back_under_way_stops_the_run_and_the_next_one_completes(finished, project, tmp_path) -> None:
    """To the job that runs then, its inputs are from the future."""
    remove(project, [GENERATED])
    path = project.folder / "results" / PERSONAL
    ahead = time.time() + HOUR
    hook = in_jobs(tmp_path / "hook", "generate", f"import os\nos.utime({str(path)!r}, ({ahead}, {ahead}))")
    process = start(project, f"results/{GENERATED}", environment=hook, warm=True)
    output = ended(process)
    assert process.returncode == 1
    assert "has older modification time" in output
    assert PERSONAL in output
    assert "Traceback" not in output
    assert not (project.folder / "results" / GENERATED).exists()
    completes(project, f"results/{GENERATED}")
    assert contents(project) == contents(finished)
