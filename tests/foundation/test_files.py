"""Files are whole or absent, the same content gives the same bytes, and broken ones are named."""

import numpy as np
import pandas as pd
import pytest

from favor.foundation.columns import TABLES
from favor.foundation.errors import UserError
from favor.foundation.files import (
    atomic_path,
    read_json,
    read_parquet,
    read_safetensors,
    write_json,
    write_parquet,
    write_safetensors,
)

DROPPED = pd.DataFrame({"reason": ["kept", "empty"], "rows": [7, 2]})


def test_parquet_round_trip_sorts_rows_and_repeats_its_bytes(tmp_path):
    write_parquet(DROPPED, tmp_path / "a.parquet", "dropped")
    write_parquet(DROPPED.iloc[::-1], tmp_path / "b.parquet", "dropped")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_parquet(tmp_path / "a.parquet", "dropped")["reason"].tolist() == ["empty", "kept"]


@pytest.mark.parametrize(
    "frame",
    [
        DROPPED.drop(columns="rows"),
        DROPPED.assign(more=1),
        pd.concat([DROPPED, DROPPED]),
    ],
)
def test_a_frame_that_is_not_the_declared_table_is_refused(tmp_path, frame):
    with pytest.raises(ValueError, match="table dropped"):
        write_parquet(frame, tmp_path / "a.parquet", "dropped")
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_parquet_file_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(DROPPED, path, "dropped")
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UserError, match=r"a\.parquet: not a whole Parquet file.*delete it and run again"):
        read_parquet(path, "dropped")


def test_another_table_is_refused(tmp_path):
    write_parquet(DROPPED, tmp_path / "a.parquet", "dropped")
    with pytest.raises(UserError, match="column 'author' of table 'splits' is missing"):
        read_parquet(tmp_path / "a.parquet", "splits")


def test_safetensors_round_trip_and_equal_bytes(tmp_path):
    tensors = {"b": np.arange(3, dtype=np.float32), "a": np.ones((2, 2), dtype=np.float32)}
    header = {"seed": "1", "kind": "test", "round": "0"}
    write_safetensors(tensors, tmp_path / "a.safetensors", header)
    write_safetensors(dict(reversed(tensors.items())), tmp_path / "b.safetensors", dict(reversed(header.items())))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    back, read_header = read_safetensors(tmp_path / "a.safetensors")
    assert read_header == header
    assert all((back[name] == tensors[name]).all() for name in tensors)


def test_a_truncated_safetensors_file_is_named(tmp_path):
    path = tmp_path / "a.safetensors"
    write_safetensors({"a": np.ones(50, dtype=np.float32)}, path, {})
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UserError, match="not a whole safetensors file"):
        read_safetensors(path)


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_earlier_file(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert (tmp_path / "a.txt").read_text() == "before"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write there"):
        write_json({}, tmp_path / "file" / "a.json")


def test_json_refuses_nan_and_names_broken_files(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json({"a": float("nan")}, tmp_path / "a.json")
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(UserError, match="not whole JSON"):
        read_json(tmp_path / "b.json")


def test_every_table_is_sorted_by_columns_it_has():
    for table in TABLES.values():
        assert set(table.sort_by) <= set(table.schema.names), table.name
        assert all(column.meaning for column in table.columns), table.name
