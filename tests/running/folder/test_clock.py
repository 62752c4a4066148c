"""Times ahead of the clock are brought back without changing which file is newer."""

import os
import time
from types import SimpleNamespace

from favor.running.folder import leftovers
from favor.running.folder.leftovers import order_future_files
from favor.running.folder.output_record import write_record

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
