"""Reading and writing Parquet tables by their declarations: atomically, the same bytes for the same content.

Rows of some tables belong to somebody: these have row groups by the value of a column, of which a job reads its own.
The footer, which every reader sees, holds row counts, places in the file, and the range of that one column. Parquet's
other column ranges would quote texts, so they are left out.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from favor.foundation.errors import UserError
from favor.foundation.files import atomic_path
from favor.foundation.schemas import Table


def write_parquet(frame: pd.DataFrame, path: str | Path, table: Table) -> None:
    """Write ``frame`` as the declared ``table``: its columns only, in declared order, rows sorted, no metadata.

    Raises ``ValueError`` (a defect of the caller) when a declared column is missing, a column is undeclared, or the
    key columns do not identify the rows.
    """
    names = table.names
    if set(frame.columns) != set(names):
        raise ValueError(f"table {table.name}: columns {sorted(frame.columns)} are not the declared {sorted(names)}")
    ordered = frame.sort_values(list(table.sort_by), kind="stable")[names]
    if ordered.duplicated(list(table.sort_by)).any():
        row = ordered[ordered.duplicated(list(table.sort_by))].iloc[0]
        raise ValueError(f"table {table.name}: two rows share {[row[name] for name in table.sort_by]}")
    arrow = pa.Table.from_pandas(ordered, schema=table.schema, preserve_index=False, safe=True)
    with atomic_path(path) as temporary:
        pq.write_table(arrow.replace_schema_metadata(None), temporary, compression="zstd", store_schema=False)


def read_parquet(path: str | Path, table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the declared ``table`` (or some of its ``columns``); its schema is checked.

    Raises ``UserError`` where the file is missing, truncated or holds another table.
    """
    try:
        arrow = pq.read_table(path, columns=list(columns) if columns is not None else None)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (pa.ArrowInvalid, pa.ArrowIOError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a complete Parquet file ({reason}); delete it and run again") from None
    schema = table.schema
    for name in columns if columns is not None else schema.names:
        if name not in arrow.schema.names:
            raise UserError(f"{path}: column '{name}' of table '{table.name}' is missing; delete it and run again")
        found = arrow.schema.field(name).type
        if not _same_type(found, schema.field(name).type):
            raise UserError(
                f"{path}: column '{name}' is {found}, not {schema.field(name).type}; delete it and run again"
            )
    return arrow.to_pandas()


def read_tables(paths: Iterable[str | Path], table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read several files of the declared ``table`` as one, empty for no file; raises as :func:`read_parquet`."""
    frames = [read_parquet(path, table, columns) for path in paths]
    return pd.concat(frames, ignore_index=True) if frames else table.empty()


def _same_type(found: pa.DataType, declared: pa.DataType) -> bool:
    if pa.types.is_list(declared) or pa.types.is_large_list(declared):
        return (pa.types.is_list(found) or pa.types.is_large_list(found)) and found.value_type == declared.value_type
    return found == declared or (pa.types.is_large_string(found) and pa.types.is_string(declared))


_TAIL = 8  # bytes at the end of a Parquet file: the footer's length and "PAR1"


def write_row_groups(frame: pd.DataFrame, path: str | Path, table: Table, column: str) -> None:
    """Write ``frame`` as :func:`favor.foundation.parquet.write_parquet` does, with a row group per run of ``column``.

    ``column``: a text column; rows that follow one another with the same value share a row group, and no others do.
    """
    with atomic_path(path) as temporary:
        write_parquet(frame, temporary, table)
        arrow = pq.read_table(temporary)
        values = arrow[column].to_pylist()
        starts = [row for row in range(len(values)) if not row or values[row] != values[row - 1]]
        options = {"compression": "zstd", "store_schema": False, "write_statistics": [column]}
        with pq.ParquetWriter(temporary, table.schema, **options) as writer:
            for start, end in zip(starts, [*starts[1:], len(values)], strict=True):
                writer.write_table(arrow.slice(start, end - start).cast(table.schema))


def read_row_groups(path: str | Path, table: Table, column: str, values: Collection[str]) -> pd.DataFrame:
    """Read the rows of the declared ``table`` whose ``column`` is one of ``values``; no byte of another row is read.

    Rows come in the order of the file. Raises ``UserError`` where the file is missing, truncated, or not written as
    this table by :func:`write_row_groups`.
    """
    try:
        with open(path, "rb") as file:
            footer = _footer(file)
            chosen = _groups(footer, column, values)
            # Without a buffer, the ranges that are asked for are those that are read.
            arrow = pq.ParquetFile(file, metadata=footer, pre_buffer=False, buffer_size=0).read_row_groups(chosen)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; run the workflow so that it is made") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: not a complete table with row groups ({reason}); delete it and run again") from None
    if not arrow.schema.equals(table.schema):
        raise UserError(f"{path}: does not hold the table '{table.name}'; delete it and run again")
    return arrow.to_pandas()


def _footer(file: BinaryIO) -> pq.FileMetaData:
    """Return the metadata of an open Parquet file from its footer alone; Arrow itself reads 64 KiB of what precedes."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _TAIL))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length + _TAIL > end:
        raise ValueError("its end is missing")
    file.seek(end - _TAIL - length)
    return pq.read_metadata(pa.BufferReader(file.read(length) + tail))


def _groups(footer: pq.FileMetaData, column: str, values: Collection[str]) -> list[int]:
    """Return the row groups that hold a value. Raises ``ValueError`` where one holds several values."""
    (place,) = (at for at in range(footer.num_columns) if footer.schema.column(at).path == column)
    chosen = []
    for number in range(footer.num_row_groups):
        found = footer.row_group(number).column(place).statistics
        if found is None or found.min != found.max:
            raise ValueError(f"rows of several values of '{column}' lie together")
        if found.min in values:
            chosen.append(number)
    return chosen
