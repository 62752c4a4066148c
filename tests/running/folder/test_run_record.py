"""What made the results: the checkout's state, the machine without its name, and what every stage took."""

import getpass
import json
import platform
import subprocess
from pathlib import Path

import pytest
from tests.optional import needs

from favor.running.folder import run_record
from favor.running.folder.run_record import code_state, describe_run, stages

HEAD = "s\th:m:s\tmax_rss\n"


@pytest.fixture
def checkout(tmp_path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "CITATION.cff").write_text("version: 9.8.7\n")
    return folder


def git(folder, *arguments) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@needs("git")
def test_commit_and_uncommitted_changes(checkout) -> None:
    assert code_state(checkout) == {"version": "9.8.7", "commit": None, "uncommitted_changes": None}
    git(checkout, "init")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-m", "one")
    state = code_state(checkout)
    assert len(state["commit"]) == 40
    assert state["uncommitted_changes"] is False
    (checkout / "new.txt").write_text("")
    assert code_state(checkout)["uncommitted_changes"] is True
    # A copy within somebody else's repository has no commit of its own.
    (checkout / "copy").mkdir()
    (checkout / "copy" / "CITATION.cff").write_text("version: 1.0.0\n")
    assert code_state(checkout / "copy")["commit"] is None
    assert code_state(checkout / "none")["version"] is None


def test_a_run_names_neither_the_machine_nor_its_user(checkout, monkeypatch) -> None:
    monkeypatch.setattr(run_record.sys, "argv", ["/somewhere/bin/snakemake", "--cores", "all", "-C", "a=b c"])
    run = describe_run(checkout, ["score", "train", "score"], 12.34, "finished")
    assert run["jobs"] == {"score": 2, "train": 1}
    assert run["command"] == "snakemake --cores all -C 'a=b c'"
    assert (run["seconds"], run["ended"]) == (12.3, "finished")
    text = json.dumps(run["machine"])
    assert platform.node() not in text
    assert f'"{getpass.getuser()}"' not in text
    assert run["machine"]["cores"] > 0
    assert run["machine"]["memory_gib"] > 0


def test_time_and_memory_of_every_stage(tmp_path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "a.tsv").write_text(HEAD + "2.5\t0:00:02\t900.5\n")
    (tmp_path / "train" / "b.tsv").write_text(HEAD + "4.0\t0:00:04\t-\n")
    (tmp_path / "report.tsv").write_text(HEAD + "0.5\t0:00:00\tNA\n")
    (tmp_path / "begun.tsv").write_text("")
    assert stages(tmp_path) == [
        {"stage": "train", "jobs": 2, "seconds": 6.5, "longest": 4.0, "peak_mb": 900.5},
        {"stage": "report", "jobs": 1, "seconds": 0.5, "longest": 0.5, "peak_mb": None},
    ]
    assert stages(tmp_path / "none") == []
