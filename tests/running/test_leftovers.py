"""Truncated files of an earlier run are found before anything reads half of one."""

import os

import numpy as np
import pandas as pd
import pytest

from favor.corpora.tables import DROPPED
from favor.foundation.files import write_json
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import write_safetensors
from favor.running.leftovers import clear_leftovers, is_truncated, remove_partial, set_aside_truncated


def test_whole_files_stay_and_every_shorter_prefix_is_found(tmp_path):
    parquet, tensors, settings = tmp_path / "a.parquet", tmp_path / "sub" / "a.safetensors", tmp_path / "a.json"
    write_parquet(pd.DataFrame({"reason": ["kept"], "rows": [1]}), parquet, DROPPED)
    write_safetensors({"a": np.ones(9, dtype=np.float32)}, tensors, {"kind": "x"})
    write_json({"a": [{"b": 1}, {"c": 2}]}, settings)
    assert set_aside_truncated(tmp_path, rename=True) == []
    for path in (parquet, tensors, settings):
        whole = path.read_bytes()
        for size in range(len(whole.rstrip())):
            path.write_bytes(whole[:size])
            assert is_truncated(path), (path.name, size)
        path.write_bytes(whole)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<html><p>x</p></html>\n"),
        ("a.svg", b"<svg><g></g></svg>\n"),
        ("a.pdf", b"%PDF-1.4\nstartxref\n9\n%%EOF\n"),
    ],
)
def test_documents_end_with_their_closing_mark(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert not is_truncated(path)
    for size in range(len(content) - 1):
        path.write_bytes(content[:size])
        assert is_truncated(path), size


@pytest.mark.parametrize("name", ["a.csv", "a.tex"])
def test_text_that_is_cut_within_a_line_is_found(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"a,b\n1,2\n")
    assert not is_truncated(path)
    for content in (b"", b"a", b"a,b\n1", b"a,b\n1,2"):
        path.write_bytes(content)
        assert is_truncated(path), content


def test_other_files_never_count_as_truncated(tmp_path):
    for name in ("a.log", "b.tsv", "c", "d.jsonl"):
        (tmp_path / name).touch()
        assert not is_truncated(tmp_path / name)


def test_a_truncated_file_is_renamed_only_by_a_real_run(tmp_path, capsys):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    assert set_aside_truncated(tmp_path, rename=False) == [path]
    assert path.exists()
    set_aside_truncated(tmp_path, rename=True)
    assert not path.exists()
    assert (tmp_path / "a.parquet.truncated").exists()
    assert "made again" in capsys.readouterr().err


def test_temporary_files_of_killed_jobs_are_removed_and_nothing_else(tmp_path):
    kept = [tmp_path / "a.parquet", tmp_path / "sub" / ".run.lock", tmp_path / "sub" / "b.partial"]
    gone = [tmp_path / ".a.parquet.x1.partial", tmp_path / "sub" / ".partial" / "c", tmp_path / ".q.partial" / "d"]
    for path in (*kept, *gone):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    remove_partial(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)
    assert not (tmp_path / "sub" / ".partial").exists()
    assert not (tmp_path / ".q.partial").exists()


def test_beside_another_run_temporary_files_and_times_stay(tmp_path):
    partial = tmp_path / ".a.parquet.x1.partial"
    partial.touch()
    os.utime(partial, (4e9, 4e9))
    clear_leftovers(tmp_path, alone=False)
    assert partial.stat().st_mtime == 4e9
    clear_leftovers(tmp_path, alone=True)
    assert not partial.exists()
