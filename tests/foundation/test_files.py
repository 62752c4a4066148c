"""Files are whole or absent, the same content gives the same bytes, and broken ones are named."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from favor.corpora.schemas import DROPPED, SPLITS
from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path, read_json, write_json
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.schemas import Table
from favor.foundation.tensors import read_safetensors, write_safetensors

ROWS = pd.DataFrame({"reason": ["kept", "empty"], "rows": [7, 2]})


def test_parquet_round_trip_sorts_rows_and_repeats_its_bytes(tmp_path) -> None:
    write_parquet(ROWS, tmp_path / "a.parquet", DROPPED)
    write_parquet(ROWS.iloc[::-1], tmp_path / "b.parquet", DROPPED)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_parquet(tmp_path / "a.parquet", DROPPED)["reason"].tolist() == ["empty", "kept"]


@pytest.mark.parametrize("frame", [ROWS.drop(columns="rows"), ROWS.assign(more=1), pd.concat([ROWS, ROWS])])
def test_a_frame_that_is_not_the_declared_table_is_refused(tmp_path, frame) -> None:
    with pytest.raises(ValueError, match="table dropped"):
        write_parquet(frame, tmp_path / "a.parquet", DROPPED)
    assert list(tmp_path.iterdir()) == []


def test_another_table_and_a_truncated_file_are_named(tmp_path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(ROWS, path, DROPPED)
    with pytest.raises(UserError, match="column 'author' of table 'splits' is missing"):
        read_parquet(path, SPLITS)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UserError, match=r"a\.parquet: not a complete Parquet file.*delete it and run again"):
        read_parquet(path, DROPPED)


def test_safetensors_round_trip_and_equal_bytes(tmp_path) -> None:
    tensors = {"b": np.arange(3, dtype=np.float32), "a": np.ones((2, 2), dtype=np.float32)}
    header = {"seed": "1", "kind": "test", "round": "0"}
    write_safetensors(tensors, tmp_path / "a.safetensors", header)
    write_safetensors(dict(reversed(tensors.items())), tmp_path / "b.safetensors", dict(reversed(header.items())))
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    back, read_header = read_safetensors(tmp_path / "a.safetensors")
    assert read_header == header
    assert all((back[name] == tensors[name]).all() for name in tensors)
    path = tmp_path / "a.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UserError, match="not a complete safetensors file"):
        read_safetensors(path)


@pytest.mark.parametrize("before", [{}, {"a.txt": "before"}])
def test_a_failed_write_leaves_what_was_there(tmp_path, before) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write there"):
        write_json({}, tmp_path / "file" / "a.json")


def test_json_refuses_nan_and_names_broken_files(tmp_path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json({"a": float("nan")}, tmp_path / "a.json")
    for broken in ("{", "[" * 100_000):
        (tmp_path / "b.json").write_text(broken)
        with pytest.raises(UserError, match=r"b\.json: not complete JSON"):
            read_json(tmp_path / "b.json")


def test_every_table_is_sorted_by_columns_it_has(repository) -> None:
    files = [path.relative_to(repository / "src") for path in (repository / "src").rglob("*schemas.py")]
    modules = [import_module(".".join(file.with_suffix("").parts)) for file in files]
    tables = [value for module in modules for value in vars(module).values() if isinstance(value, Table)]
    assert len({table.name for table in tables}) == len(tables) > 30
    for table in tables:
        assert set(table.sort_by) <= set(table.names), table.name
        assert all(column.meaning for column in table.columns), table.name
