"""Rows of a CSV, JSONL or Parquet table as plain strings, for the readers that take any of the three."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from favor.corpora.delimited import column_positions, read_delimited
from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import encoding_error, open_text
from favor.foundation.errors import UserError

JSONL_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")


class Row(NamedTuple):
    """One row: its label for messages and its values by our column names ("" where missing)."""

    label: str
    values: dict[str, str]


def table_columns(path: Path, settings: ReaderSettings) -> list[str]:
    """Return the column names of the table at ``path`` (of a JSONL file: the keys of its first line)."""
    if _suffix(path) in PARQUET_SUFFIXES:
        return list(_parquet(path).schema_arrow.names)
    if _suffix(path) in JSONL_SUFFIXES:
        return list(next(_json_lines(path, settings))[1])
    return [name.strip() for name in next(read_delimited(path, settings)).fields]


def read_rows(
    path: Path, settings: ReaderSettings, required: Sequence[str], optional: Sequence[str], expected: str
) -> Iterator[Row]:
    """Yield the rows of the table at ``path``, told by its suffix (.csv, .tsv, .jsonl, .ndjson, .parquet, .pq).

    ``required`` and ``optional`` are our column names; ``settings.columns`` renames them. An optional column that
    the settings name must be there. Raises ``UserError`` where a column, a row or the file is broken.
    """
    unknown = sorted(set(settings.columns) - {*required, *optional})
    if unknown:
        raise UserError(f"corpus key 'columns': '{unknown[0]}' is none of {', '.join((*required, *optional))}")
    found = set(table_columns(path, settings))
    ours = [*required, *(name for name in optional if name in settings.columns or name in found)]
    theirs = {name: settings.columns.get(name, name) for name in ours}
    if _suffix(path) in PARQUET_SUFFIXES:
        yield from _parquet_rows(path, theirs, expected)
    elif _suffix(path) in JSONL_SUFFIXES:
        yield from _jsonl_rows(path, settings, theirs, set(required) | set(settings.columns), expected)
    else:
        records = read_delimited(path, settings)
        positions = column_positions(next(records).fields, list(theirs.values()), str(path), expected)
        for label, fields in records:
            yield Row(label, {name: fields[at] for name, at in zip(ours, positions, strict=True)})


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zip")]
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in (".csv", ".tsv", ".txt", *JSONL_SUFFIXES, *PARQUET_SUFFIXES):
        raise UserError(f"{path}: not a table; name it .csv, .tsv, .jsonl or .parquet (the first two also .gz or .zip)")
    return suffix


def _json_lines(path: Path, settings: ReaderSettings) -> Iterator[tuple[str, dict[str, Any]]]:
    empty = True
    label = "line 1"
    with open_text(path, settings.encoding, JSONL_SUFFIXES) as (stream, name):
        try:
            for number, line in enumerate(stream, start=1):
                label = f"line {number}"
                if not line.strip():
                    continue
                empty = False
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise UserError(f"{name}: {label} is not a JSON object; give one object a line")
                yield label, row
        except UnicodeDecodeError:
            raise encoding_error(path, settings.encoding, JSONL_SUFFIXES, name, f"after {label}") from None
        except json.JSONDecodeError as error:
            raise UserError(f"{name}: {label} is not whole JSON ({error}); mend or remove the line") from None
        if empty:
            raise UserError(f"{name}: is empty; fetch the file again")


def _jsonl_rows(
    path: Path, settings: ReaderSettings, theirs: Mapping[str, str], required: set[str], expected: str
) -> Iterator[Row]:
    for label, row in _json_lines(path, settings):
        for name in theirs:
            if name in required and theirs[name] not in row:
                raise UserError(f"{path}: {label}: key '{theirs[name]}' is missing; expected {expected}")
        yield Row(label, {name: _text(row.get(key)) for name, key in theirs.items()})


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; mend the corpus path") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"{path}: not a whole Parquet file ({str(error).splitlines()[0]}); fetch it again") from None


def _parquet_rows(path: Path, theirs: Mapping[str, str], expected: str) -> Iterator[Row]:
    file = _parquet(path)
    column_positions(file.schema_arrow.names, list(theirs.values()), str(path), expected)
    number = 0
    try:
        for batch in file.iter_batches(batch_size=1024, columns=list(theirs.values())):
            for row in batch.to_pylist():
                number += 1
                yield Row(f"row {number}", {name: _text(row[key]) for name, key in theirs.items()})
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: damaged after row {number} ({reason}); fetch it again") from None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
