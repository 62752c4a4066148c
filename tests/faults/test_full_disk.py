"""A disk that is full while something is written, and folders that cannot be written.

One line, nothing half, and the run completes once there is room.
"""

from __future__ import annotations

import errno
import os
import shutil

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


def check_refusal(project, output, rule, name) -> str:
    assert "Traceback" not in output
    (line,) = [line for line in output.splitlines() if line.startswith(f"error in {rule}: ")]
    assert "free space or fix the folder" in line
    assert os.path.dirname(name) in line
    folder = project.folder / "results" / os.path.dirname(name)
    assert not (project.folder / "results" / name).exists()
    assert not [path for path in folder.rglob("*") if "partial" in path.name]
    return line


@pytest.mark.parametrize(("rule", "name"), WRITING)
def test_a_job_that_finds_no_room(finished, project, tmp_path, rule, name) -> None:
    remove(project, [name])
    process = start(
        project, f"results/{name}", environment=in_jobs(tmp_path / "hook", rule, file_limit(512)), warm=True
    )
    output = ended(process)
    assert process.returncode == 1
    assert "File too large" in check_refusal(project, output, rule, name)
    completes(project, f"results/{name}")
    assert contents(project) == contents(finished)


def test_a_disk_without_room_for_a_byte(finished, project, small_disk) -> None:
    remove(project, [GENERATED])
    shutil.copytree(project.folder / "results", small_disk / "results")
    shutil.rmtree(project.folder / "results")
    (project.folder / "results").symlink_to(small_disk / "results")
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left") as full:
        while True:
            file.write(bytes(4096))
    assert full.value.errno == errno.ENOSPC
    process = start(project, f"results/{GENERATED}", warm=True)
    output = ended(process)
    assert process.returncode == 1
    assert "No space left on device" in check_refusal(project, output, "generate", GENERATED)
    ballast.unlink()
    completes(project, f"results/{GENERATED}")
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
