"""What a job prints: one line for what the user can fix, the traceback for a defect; and both in its log."""

import errno
import os
import sys
from types import SimpleNamespace

import pytest
import threadpoolctl
import torch

from favor.foundation.errors import UserError
from favor.foundation.files import REMEDY
from favor.running.jobs.job import job
from favor.running.jobs.job_log import ERRORS_LAST


@pytest.fixture
def snakemake(tmp_path) -> SimpleNamespace:
    return SimpleNamespace(
        log=[tmp_path / "logs" / "a.log"], params={"cfg": {"a": 1}}, rule="train_shared", resources={}
    )


def test_the_configuration_comes_in_and_standard_error_goes_to_the_log(snakemake, capsys) -> None:
    with job(snakemake) as cfg:
        assert cfg == {"a": 1}
        print("a line", file=sys.stderr)
    assert snakemake.log[0].read_text() == "a line\n"
    assert capsys.readouterr().err == "a line\n"


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (UserError("a.parquet: broken; fix it"), "error in train_shared: a.parquet: broken; fix it", 1),
        (
            OSError(errno.ENOSPC, "No space left on device", "b.txt"),
            f"error in train_shared: b.txt: No space left on device; {REMEDY}",
            1,
        ),
        (OSError(errno.EROFS, "Read-only"), f"error in train_shared: a file: Read-only; {REMEDY}", 1),
        (KeyboardInterrupt(), "train_shared: interrupted; the same command goes on", 130),
    ],
)
def test_what_the_user_can_mend_is_one_line(snakemake, capsys, error, line, status) -> None:
    with pytest.raises(SystemExit) as ended, job(snakemake):
        raise error
    assert ended.value.code == status
    assert capsys.readouterr().err == f"{line}\n"
    assert snakemake.log[0].read_text().endswith(f"{line}\n")


def test_a_job_computes_with_the_threads_of_its_rule(snakemake) -> None:
    snakemake.resources = {"compute_threads": 2}
    before = torch.get_num_threads()
    try:
        with job(snakemake):
            assert torch.get_num_threads() == 2
            assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {2}
    finally:
        torch.set_num_threads(before)
        threadpoolctl.threadpool_limits(before)


def test_half_a_surrogate_pair_in_a_message_ends_no_job_with_a_traceback(snakemake) -> None:
    with pytest.raises(SystemExit), job(snakemake):
        raise UserError("\ud83d.xml: broken; fix it")
    assert snakemake.log[0].read_text() == "error in train_shared: \\ud83d.xml: broken; fix it\n"


@pytest.mark.parametrize("error", [ValueError("a defect"), OSError(errno.EIO, "Input/output error")])
def test_a_defect_keeps_its_traceback(snakemake, error) -> None:
    with pytest.raises(type(error)), job(snakemake):
        raise error
    assert "Traceback" in snakemake.log[0].read_text()


@pytest.mark.parametrize("log", ["/dev/full", "a_file/logs/a.log"])
def test_a_log_that_cannot_be_written_ends_no_job(snakemake, capsys, tmp_path, monkeypatch, log) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_file").touch()
    snakemake.log = [log]
    with job(snakemake):
        print("one", file=sys.stderr)
        print("two", file=sys.stderr)
    shown = capsys.readouterr().err
    assert shown.count("; the job goes on without its log") == shown.count(f"{log}: cannot be written (") == 1
    assert "one\n" in shown
    assert "two\n" in shown


def test_a_terminal_on_a_full_disk_ends_no_job(snakemake, monkeypatch) -> None:
    with open("/dev/full", "w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full)
        with job(snakemake):
            print("one", file=sys.stderr)
        with pytest.raises(OSError, match="No space left"):
            full.flush()
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())
    assert snakemake.log[0].read_text() == "one\n"


@pytest.mark.parametrize(
    ("error", "status", "last"),
    [
        (UserError("a.parquet: broken"), 1, "error in train_shared: a.parquet: broken"),
        (KeyboardInterrupt(), 130, "train_shared: interrupted; the same command goes on"),
        (
            ValueError("1 is 2\nand 3"),
            1,
            "error in train_shared: ValueError: 1 is 2 (a defect: the traceback is in {log})",
        ),
    ],
)
def test_where_errors_are_printed_last_the_log_alone_has_them(
    snakemake, capsys, monkeypatch, error, status, last
) -> None:
    monkeypatch.setenv(ERRORS_LAST, "1")
    with pytest.raises(SystemExit) as ended, job(snakemake):
        print("a line", file=sys.stderr)
        raise error
    assert ended.value.code == status
    assert capsys.readouterr().err == "a line\n"
    lines = snakemake.log[0].read_text().splitlines()
    assert lines[-1] == last.format(log=snakemake.log[0])
    assert ("Traceback (most recent call last):" in lines) == isinstance(error, ValueError)
