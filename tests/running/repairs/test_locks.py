"""Runs that share a working folder keep to their own locks."""

import resource

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.persistence.file import FilePersistence

from favor.running.repairs.locks import keep_to_own_locks

REPAIRED = ("cleanup_locks", "_write_locks", "_delete_locks")


@pytest.fixture
def runs(monkeypatch, tmp_path) -> list[FilePersistence]:
    """Two runs in one working folder. Methods are set to themselves, so that they are put back after the test."""
    for name in REPAIRED:
        monkeypatch.setattr(FilePersistence, name, getattr(FilePersistence, name))
    keep_to_own_locks()
    return [FilePersistence(path=tmp_path) for _ in range(2)]


def locks(tmp_path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((tmp_path / "locks").glob("*"))}


def test_a_run_is_planned_while_another_ends(runs, tmp_path) -> None:
    one, other = runs
    one._write_locks("output", ["results/a", "results/b"])
    one._delete_locks()
    assert not (tmp_path / "locks").exists()
    other._write_locks("input", [])
    other._write_locks("output", ["elsewhere/a"])
    assert locks(tmp_path) == {"0.output.lock": "elsewhere/a\n"}


def test_what_another_run_locks_stays_locked(runs, tmp_path) -> None:
    one, other = runs
    one._write_locks("output", ["results/a"])
    other._write_locks("output", ["elsewhere/a"])
    assert locks(tmp_path) == {"0.output.lock": "results/a\n", "1.output.lock": "elsewhere/a\n"}
    one._delete_locks()
    one._delete_locks()
    assert locks(tmp_path) == {"1.output.lock": "elsewhere/a\n"}
    keep_to_own_locks()  # a second time changes nothing
    one.cleanup_locks()  # --unlock
    assert not (tmp_path / "locks").exists()


def test_a_full_disk_is_one_line_and_leaves_no_lock(runs, tmp_path, monkeypatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(WorkflowError, match=r"0.output.lock: cannot be written \(File too large\); free space or"):
            runs[0]._write_locks("output", ["results/a", "results/b"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "locks").exists()
