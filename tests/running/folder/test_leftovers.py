"""Truncated files of an earlier run are found before anything reads half of one."""

import os

import numpy as np
import pandas as pd
import pytest

from favor.corpora.tables import DROPPED
from favor.foundation.files import PARTIAL, write_json
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import write_safetensors
from favor.running.folder.leftovers import (
    clear_leftovers,
    is_truncated,
    name_truncated,
    remove_partial,
    set_aside_truncated,
)
from favor.running.folder.output_record import write_record


def test_whole_files_stay_and_every_shorter_prefix_is_found(tmp_path) -> None:
    parquet, tensors, settings = tmp_path / "a.parquet", tmp_path / "sub" / "a.safetensors", tmp_path / "a.json"
    write_parquet(pd.DataFrame({"reason": ["kept"], "rows": [1]}), parquet, DROPPED)
    write_safetensors({"a": np.ones(9, dtype=np.float32)}, tensors, {"kind": "x"})
    write_json({"a": [{"b": 1}, {"c": 2}]}, settings)
    for path in (parquet, tensors, settings):
        assert not is_truncated(path)
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
def test_documents_end_with_their_closing_mark(tmp_path, name, content) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert not is_truncated(path)
    for size in range(len(content) - 1):
        path.write_bytes(content[:size])
        assert is_truncated(path), size


@pytest.mark.parametrize("name", ["a.csv", "a.tex"])
def test_text_that_is_cut_within_a_line_is_found(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_bytes(b"a,b\n1,2\n")
    assert not is_truncated(path)
    for content in (b"", b"a", b"a,b\n1", b"a,b\n1,2"):
        path.write_bytes(content)
        assert is_truncated(path), content


def test_other_files_never_count_as_truncated(tmp_path) -> None:
    for name in ("a.log", "b.tsv", "c", "d.jsonl"):
        (tmp_path / name).touch()
        assert not is_truncated(tmp_path / name)


def test_tensors_with_a_header_of_another_form_are_truncated(tmp_path) -> None:
    path = tmp_path / "a.safetensors"
    for header in (b"[1]", b'{"a": 1}', b'{"a": {}}', b'{"a": {"data_offsets": [0]}}'):
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        assert is_truncated(path), header


def test_brackets_without_end_are_truncated_json(tmp_path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text("[" * 100_000)
    assert is_truncated(path)


def test_a_truncated_output_is_renamed_only_by_a_real_run(tmp_path, capsys) -> None:
    path, folder = tmp_path / "a.parquet", tmp_path / "peft"
    (folder / "client_1").mkdir(parents=True)
    for file in (path, folder / "client_1" / "b.parquet", tmp_path / "c.parquet"):
        file.write_bytes(b"PAR1")
    write_record(tmp_path, ["a.parquet", "peft"])
    name_truncated(tmp_path)
    assert capsys.readouterr().err.count("a real run sets it aside") == 2
    set_aside_truncated(tmp_path)
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
