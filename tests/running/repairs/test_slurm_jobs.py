"""Slurm jobs of a folder, with a squeue and a scancel that stand for Slurm's (tests/slurm has the real ones)."""

import os
from pathlib import Path

import pytest

from favor.foundation.errors import UserError
from favor.running.repairs.slurm_plugin import jobs_in, settle


@pytest.fixture
def slurm(tmp_path, monkeypatch) -> Path:
    """A folder with a queue: one line a job, id, state and working folder; a cancelled job leaves it."""
    squeue = """#!/bin/sh
queue=$(dirname $0)/queue
for argument; do case $argument in --states=*) states=,${argument#--states=},; esac; done
while read id state place; do case $states in *,$state,*) echo $id $place;; esac; done < $queue
"""
    scancel = """#!/bin/sh
for id; do sed -i "/^$id /d" $(dirname $0)/queue; done
"""
    for name, text in (("squeue", squeue), ("scancel", scancel)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_only_unfinished_jobs_of_the_folder_count(slurm, tmp_path) -> None:
    here, link = tmp_path / "here", tmp_path / "link"
    here.mkdir()
    link.symlink_to(here)
    queue = [f"10 RUNNING {here}", f"9 PENDING {link}", f"8 COMPLETED {here}", f"7 RUNNING {here}er"]
    (slurm / "queue").write_text("\n".join([*queue, ""]))
    assert jobs_in(here) == ["9", "10"]
    assert jobs_in(here, "PENDING") == ["9"]


def test_no_answer_is_no_evidence_that_there_are_none(slurm, tmp_path) -> None:
    (slurm / "squeue").write_text("#!/bin/sh\necho Unable to contact slurm controller >&2; exit 1\n")
    with pytest.raises(UserError, match="squeue does not answer"):
        jobs_in(tmp_path)


def test_pending_jobs_are_cancelled_and_running_ones_awaited(slurm, tmp_path, monkeypatch, capsys) -> None:
    (slurm / "queue").write_text(f"1 PENDING {tmp_path}\n2 RUNNING {tmp_path}\n3 RUNNING /elsewhere\n")
    looks = []

    def sleep(seconds) -> None:
        looks.append((slurm / "queue").read_text())
        (slurm / "queue").write_text("3 RUNNING /elsewhere\n")

    monkeypatch.setattr("time.sleep", sleep)
    settle(tmp_path, cancelling=False)
    assert looks == [f"2 RUNNING {tmp_path}\n3 RUNNING /elsewhere\n"]
    assert "waiting for the end of Slurm jobs 2" in capsys.readouterr().out


def test_running_jobs_are_cancelled_where_that_is_asked_for(slurm, tmp_path) -> None:
    (slurm / "queue").write_text(f"1 PENDING {tmp_path}\n2 RUNNING {tmp_path}\n3 RUNNING /elsewhere\n")
    settle(tmp_path, cancelling=True)
    assert (slurm / "queue").read_text() == "3 RUNNING /elsewhere\n"
