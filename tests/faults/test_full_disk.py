"""A disk that is full while something is written, and folders that cannot be written.

One line, nothing half, and the run completes once there is room.
"""

import os

import pytest

from tests.faults.conftest import completes, ended, file_limit, in_jobs, obeys_permissions, remove, start
from tests.shortest import contents, jobs_begun

pytestmark = pytest.mark.slow(15)

SEED = "short/seed1"
WRITING = [
    ("pretrain_base", "models/short/base/model.safetensors"),
    ("train_personal", f"{SEED}/favor/clients/last/batch0.safetensors"),
]
GENERATED = f"{SEED}/favor/generations.parquet"


@pytest.mark.parametrize(("rule", "name"), WRITING)
def test_a_job_that_finds_no_room(finished, project, tmp_path, rule, name) -> None:
    remove(project, [name])
    process = start(
        project, f"results/{name}", environment=in_jobs(tmp_path / "hook", rule, file_limit(512)), warm=True
    )
    output = ended(process)
    assert process.returncode == 1
    assert "Traceback" not in output
    (line,) = [line for line in output.splitlines() if line.startswith(f"error in {rule}: ")]
    assert "File too large" in line
    assert "free space or fix the folder" in line
    path = project.folder / "results" / name
    assert os.path.dirname(name) in line
    assert not path.exists()
    assert not [left for left in path.parent.rglob("*") if "partial" in left.name]
    completes(project, f"results/{name}")
    assert contents(project) == contents(finished)


@pytest.mark.parametrize(
    ("folder", "refusal"),
    [
        ("results", "'results' (Permission denied). Fix its permissions"),
        (f"results/{SEED}/favor", f"'results/{SEED}/favor'. Fix its permissions"),
    ],
)
def test_read_only_folders_are_refused_before_any_job(finished, project, folder, refusal) -> None:
    remove(project, [GENERATED])
    (project.folder / folder).chmod(0o555)
    process = start(project, f"results/{GENERATED}", before=obeys_permissions)
    output = ended(process)
    assert process.returncode == 1
    assert f"Cannot write to results folder {refusal}" in output
    assert "Traceback" not in output
    assert not jobs_begun(output)
    (project.folder / folder).chmod(0o755)
    completes(project, f"results/{GENERATED}")
    assert contents(project) == contents(finished)
