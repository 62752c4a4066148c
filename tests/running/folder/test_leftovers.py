"""What an earlier run left is cleared: truncated and temporary files, and times ahead of the clock."""

import os
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd

from favor.corpora.schemas import DROPPED
from favor.foundation.files import PARTIAL
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import write_safetensors
from favor.running.folder import leftovers
from favor.running.folder.leftovers import (
    clear_leftovers,
    is_truncated,
    name_truncated,
    order_future_files,
    remove_partial,
)
from favor.running.folder.output_record import write_record


def test_whole_files_stay_and_every_shorter_prefix_is_found(tmp_path) -> None:
    parquet, tensors = tmp_path / "a.parquet", tmp_path / "sub" / "a.safetensors"
    write_parquet(pd.DataFrame({"reason": ["kept"], "rows": [1]}), parquet, DROPPED)
    write_safetensors({"a": np.ones(9, dtype=np.float32)}, tensors, {"kind": "x"})
    for path in (parquet, tensors):
        assert not is_truncated(path)
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            assert is_truncated(path), (path.name, size)
        path.write_bytes(whole)
    for name in ("a.log", "b.tsv", "c", "d.jsonl", "e.json", "f.html", "g.csv"):
        (tmp_path / name).touch()
        assert not is_truncated(tmp_path / name)


def test_tensors_with_a_header_of_another_form_are_truncated(tmp_path) -> None:
    path = tmp_path / "a.safetensors"
    for header in (b"[1]", b'{"a": 1}', b'{"a": {}}', b'{"a": {"data_offsets": [0]}}'):
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        assert is_truncated(path), header


def test_a_truncated_output_is_renamed_only_by_a_real_run(tmp_path, capsys) -> None:
    path, folder = tmp_path / "a.parquet", tmp_path / "peft"
    (folder / "client_1").mkdir(parents=True)
    for file in (path, folder / "client_1" / "b.parquet", tmp_path / "c.parquet"):
        file.write_bytes(b"PAR1")
    write_record(tmp_path, ["a.parquet", "peft"])
    name_truncated(tmp_path)
    assert capsys.readouterr().err.count("a real run sets it aside") == 2
    clear_leftovers(tmp_path, alone=False)
    assert sorted(file.name for file in tmp_path.iterdir() if not file.name.startswith(".")) == [
        *("a.parquet.truncated", "c.parquet", "peft.truncated")
    ]
    assert capsys.readouterr().err.count("made again") == 2


def test_temporary_files_of_killed_jobs_are_removed_and_nothing_else(tmp_path) -> None:
    kept = [tmp_path / "a.parquet", tmp_path / "sub" / ".run.lock", tmp_path / "sub" / f"b{PARTIAL}"]
    kept += [tmp_path / ".a.parquet.x1.partial", tmp_path / ".partial" / "c"]
    gone = [tmp_path / f".a.parquet.x1{PARTIAL}", tmp_path / "sub" / PARTIAL / "c", tmp_path / f".q{PARTIAL}" / "d"]
    for path in (*kept, *gone):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    remove_partial(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)
    assert not (tmp_path / "sub" / PARTIAL).exists()
    assert not (tmp_path / f".q{PARTIAL}").exists()


def test_beside_another_run_temporary_files_and_times_stay(tmp_path) -> None:
    partial, output = tmp_path / f".a.parquet.x1{PARTIAL}", tmp_path / "a.log"
    for path in (partial, output):
        path.touch()
        os.utime(path, (4e9, 4e9))
    write_record(tmp_path, ["a.log"])
    clear_leftovers(tmp_path, alone=False)
    assert partial.stat().st_mtime == output.stat().st_mtime == 4e9
    clear_leftovers(tmp_path, alone=True)
    assert not partial.exists()
    assert output.stat().st_mtime < 4e9


HOUR = 3600 * 10**9


def set_time(path, time_ns) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    os.utime(path, ns=(time_ns, time_ns))


def test_files_keep_their_order_and_none_is_newer_than_now(tmp_path, capsys, monkeypatch) -> None:
    now = time.time_ns()
    monkeypatch.setattr(leftovers, "time", SimpleNamespace(time_ns=lambda: now))
    times = {"a": now - HOUR, "sub/b": now - HOUR // 2, "c": now + HOUR, "sub/d": now + HOUR, "e": now + 3 * HOUR}
    for name, found in times.items():
        set_time(tmp_path / name, found)
    set_time(tmp_path / "mine", now + HOUR)
    write_record(tmp_path, times)
    assert order_future_files(tmp_path) == 3
    assert (tmp_path / "mine").stat().st_mtime_ns == now + HOUR
    after = {name: (tmp_path / name).stat().st_mtime_ns for name in times}
    assert (after["a"], after["sub/b"]) == (times["a"], times["sub/b"])
    assert after["sub/b"] < after["c"] == after["sub/d"] < after["e"] <= now
    assert "3 files were newer than now, by up to 10,800 s" in capsys.readouterr().err
    assert order_future_files(tmp_path) == 0
    assert capsys.readouterr().err == ""


def test_a_folder_of_such_files_alone_is_ordered_too(tmp_path) -> None:
    for number in range(3):
        set_time(tmp_path / str(number), time.time_ns() + (number + 1) * HOUR)
    write_record(tmp_path, map(str, range(3)))
    assert order_future_files(tmp_path) == 3
    found = [(tmp_path / str(number)).stat().st_mtime_ns for number in range(3)]
    assert found == sorted(set(found))
    assert found[-1] <= time.time_ns()


def test_the_time_of_an_output_folder_is_snakemakes_file_in_it(tmp_path) -> None:
    for name in (".snakemake_timestamp", "mine"):
        set_time(tmp_path / "peft" / name, time.time_ns() + HOUR)
    write_record(tmp_path, ["peft"])
    assert order_future_files(tmp_path) == 1
    assert (tmp_path / "peft" / "mine").stat().st_mtime_ns > time.time_ns()
