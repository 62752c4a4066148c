"""Rows of a CSV, JSONL or Parquet table as plain strings, for the readers that take any of the three."""

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from favor.corpora.dates import EPOCH_UNITS
from favor.corpora.delimited import column_positions, read_columns, read_delimited
from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import encoding_error, open_text, too_large
from favor.foundation.errors import UserError
from favor.foundation.names import printable

AUTHOR_COLUMNS = (  # other names for the column of authors, in lower case
    *("author", "user", "username", "user_name", "user_id", "userid", "author_id", "authorid", "writer", "blogger"),
    *("account", "handle", "screen_name", "speaker", "sender", "from", "poster", "nick", "reviewer"),
    *("autor", "autorin", "verfasser", "verfasserin", "nutzer", "nutzerin", "auteur", "utente", "usuario"),
)
JSONL_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")
_A_TIME = 1e8  # a whole number above it, in a column of floating point, is seconds since 1970
BATCH_BYTES = 16_000_000  # of rows that are Python's at once
# What pyarrow raises on a damaged file; UnicodeDecodeError, a ValueError, on a name that is not UTF-8.
DAMAGED_PARQUET = (pa.ArrowException, OSError, ValueError, OverflowError)


class Row(NamedTuple):
    """One row: its label for messages and its values by our column names ("" where missing)."""

    label: str
    values: dict[str, str]


def table_columns(path: Path, settings: ReaderSettings) -> list[str]:
    """Return the column names of the table at ``path`` (of a JSONL file: the keys of its first line).

    What an object in a column holds is a column too, such as "user.name".
    """
    if _suffix(path) in PARQUET_SUFFIXES:
        return [name.strip() for name in _parquet_columns(_parquet(path).schema_arrow)]
    if _suffix(path) in JSONL_SUFFIXES:
        return list(_flat(next(_json_lines(path, settings))[1]))
    return [name.strip() for name in next(read_delimited(path, settings)).fields]


def table_rows(path: Path, settings: ReaderSettings) -> Iterator[dict[str, str]]:
    """Yield every row of a table as texts by column: whole numbers and dates written out, "" for what is neither.

    Raises ``UserError`` where the table is broken.
    """
    for _, row in table_objects(path, settings):
        yield {name.strip(): _written(value, settings.table_encoding) for name, value in _flat(row).items()}


def table_objects(path: Path, settings: ReaderSettings) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield (label, row) of every row of a table, with its values as the table has them.

    Raises ``UserError`` where the table is broken.
    """
    suffix = _suffix(path)
    if suffix in PARQUET_SUFFIXES:
        file = _parquet(path)
        rows = (row for batch in _parquet_batches(file, path, file.schema_arrow.names) for row in batch)
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))
    elif suffix in JSONL_SUFFIXES:
        yield from _json_lines(path, settings)
    else:
        records = read_delimited(path, settings)
        header = next(records).fields
        rows = (dict(zip(header, record.fields, strict=True)) for record in records)
        yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))


def _flat(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row with the values of an object in it by dotted names: "user.name" of {"user": {"name": ...}}."""
    if not any(isinstance(value, dict) for value in row.values()):
        return row
    found: dict[str, object] = {}
    for name, value in row.items():
        inside = _flat(value) if isinstance(value, dict) else None
        found |= {name: value} if inside is None else {f"{name}.{inner}": each for inner, each in inside.items()}
    return found | {name: value for name, value in row.items() if not isinstance(value, dict)}


def _parquet_columns(schema: pa.Schema | pa.StructType) -> list[str]:
    """Return the names of columns as :func:`_flat` gives them, without white space around them taken off."""
    found = []
    for column in schema:
        inside = _parquet_columns(column.type) if pa.types.is_struct(column.type) else None
        found += [column.name] if inside is None else [f"{column.name}.{inner}" for inner in inside]
    return found


def _written(value: Any, encoding: str) -> str:
    if isinstance(value, bytes):
        return value.decode(encoding, "replace")
    if _is_whole(value) or (type(value) is float and value.is_integer() and value >= _A_TIME):
        return str(int(value))
    return str(value) if type(value) is str or isinstance(value, datetime.date) else ""


def _is_whole(value: Any) -> bool:
    """Return whether ``value`` is a whole number, also as databases export it: with a fixed number of decimals."""
    return type(value) is int or (type(value) is Decimal and value == int(value))


def read_rows(
    path: Path, settings: ReaderSettings, columns: Mapping[str, str], required: Sequence[str], expected: str
) -> Iterator[Row]:
    """Yield the rows of the table at ``path``, told by its suffix (.csv, .tsv, .jsonl, .ndjson, .parquet, .pq).

    ``columns``: our column names and the source's own names for them, which ``settings.columns`` replaces. The
    ``required`` columns and those that the settings name must be there. Raises ``UserError`` where a column, a row or
    the file is broken, a column is there twice or read twice, or a value is not text.

    Whole numbers are taken as authors, topics and dates, from a column of integers or decimals; a floating-point 7.0 is
    refused, because it may have been another number before it was stored. Binary values are decoded by
    ``settings.encoding``.
    """
    names = settings.column_names(columns)
    needed = {*required, *settings.columns}
    suffix = _suffix(path)
    if suffix in JSONL_SUFFIXES:
        yield from _jsonl_rows(path, settings, names, needed, expected)
        return
    found = set(table_columns(path, settings))
    names = {role: name for role, name in names.items() if role in needed or name in found}
    if suffix in PARQUET_SUFFIXES:
        yield from _parquet_rows(path, settings, names, expected)
    else:
        for label, values in read_columns(path, settings, list(names.values()), names.get("author"), expected):
            yield Row(label, dict(zip(names, values, strict=True)))


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zip")]
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in (".csv", ".tsv", ".txt", *JSONL_SUFFIXES, *PARQUET_SUFFIXES):
        remedy = "name it .csv, .tsv, .jsonl or .parquet (the first two also .gz or .zip)"
        packed = path.suffix.lower() in (".gz", ".zip")
        raise UserError(f"{path}: not a table; {'unpack it, or ' if packed else ''}{remedy}")
    return suffix


def _json_lines(path: Path, settings: ReaderSettings) -> Iterator[tuple[str, dict[str, object]]]:
    empty = True
    label = "line 1"
    encoding = settings.table_encoding
    with open_text(path, encoding, JSONL_SUFFIXES, has_key=settings.has_keys) as (stream, name):
        try:
            for number, line in enumerate(_lines(stream, settings.maximum_field_characters), start=1):
                label = f"line {number}"
                if len(line) > settings.maximum_field_characters:
                    raise UserError(
                        f"{name}: {label} is longer than {settings.maximum_field_characters:,} characters; "
                        "give one object per line, one post in each"
                    )
                if not line.strip():
                    continue
                if empty and line.lstrip().startswith("["):
                    raise UserError(f"{name}: is a JSON array; write it as JSON Lines, one object per line")
                empty = False
                row = json.loads(line, object_pairs_hook=_object)
                if not isinstance(row, dict):
                    raise UserError(f"{name}: {label} is not a JSON object; give one object per line")
                yield label, row
        except UnicodeError:
            raise encoding_error(path, encoding, JSONL_SUFFIXES, name, f"after {label}", settings.has_keys) from None
        except RecursionError:
            raise UserError(f"{name}: {label} is nested too deeply; fix or remove the line") from None
        except ValueError as error:  # broken JSON, a key given twice, an integer of thousands of digits
            raise UserError(f"{name}: {label} is not complete JSON ({error}); fix or remove the line") from None
        if empty:
            raise UserError(f"{name}: is empty; fetch the file again")


def _lines(stream: TextIO, longest: int) -> Iterator[str]:
    """Yield the lines of a stream; one of more than ``longest`` characters is cut after one more."""
    while line := stream.readline(longest + 1):
        yield line


def _object(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
        raise ValueError(f"key {repeated!r} is given twice")
    return found


def _jsonl_rows(
    path: Path, settings: ReaderSettings, names: Mapping[str, str], needed: set[str], expected: str
) -> Iterator[Row]:
    for label, nested in _json_lines(path, settings):
        values, row = {}, {**nested, **_flat(nested)}
        for role, column in names.items():
            if role in needed and column not in row:
                raise UserError(f"{path}: {label}: key '{column}' is missing; expected {expected}")
            value = row.get(column)
            values[role] = value if type(value) is str else _text(value, role, column, f"{path}: {label}", settings)
        yield Row(label, values)


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; check the corpus key 'path'") from None
    except DAMAGED_PARQUET as error:
        raise UserError(f"{path}: not a complete Parquet file ({_line(error)}); fetch it again") from None


def _parquet_rows(path: Path, settings: ReaderSettings, names: Mapping[str, str], expected: str) -> Iterator[Row]:
    file = _parquet(path)
    header = _parquet_columns(file.schema_arrow)
    positions = column_positions(header, list(names.values()), str(path), expected, settings.has_keys)
    columns = {role: header[at] for role, at in zip(names, positions, strict=True)}  # with the spaces around them
    number = 0
    for rows in _parquet_batches(file, path, list(columns.values())):
        for nested in rows:
            number += 1
            values, row = {}, _flat(nested)
            for role, column in columns.items():
                value = row.get(column)  # of an object that is null, its parts are
                where = f"{path}: row {number}"
                values[role] = value if type(value) is str else _text(value, role, column, where, settings)
            yield Row(f"row {number}", values)


def _parquet_batches(file: pq.ParquetFile, path: Path, columns: list[str]) -> Iterator[list[dict[str, object]]]:
    number, packed, unpacked = 0, path.stat().st_size, 0
    try:
        for batch in file.iter_batches(batch_size=256, columns=columns):
            size = max(1, BATCH_BYTES // max(batch.nbytes // len(batch), _longest(batch), 1))
            for part in (batch.slice(start, size) for start in range(0, len(batch), size)):
                try:
                    rows = part.to_pylist()
                except (ValueError, OverflowError):  # a string that is not UTF-8, a date after the year 9999
                    _refuse_value(part, path, number)
                    raise
                number += len(rows)
                unpacked += sum(len(each) for row in rows for each in _flat(row).values() if type(each) is str)
                if too_large(unpacked, packed):
                    raise UserError(
                        f"{path}: {packed:,} bytes hold over {unpacked:,} of text in {number:,} rows, more than text "
                        "does; a dictionary repeats them"
                    )
                yield rows
    except DAMAGED_PARQUET as error:
        raise UserError(f"{path}: damaged after row {number} ({_line(error)}); fetch it again") from None


def _longest(batch: pa.RecordBatch) -> int:
    """Return the bytes of the longest values of dictionaries, which any row may hold."""
    found = (each.dictionary for each in batch.columns if isinstance(each, pa.DictionaryArray) and len(each.dictionary))
    texts = (each for each in found if pa.types.is_string(each.type) or pa.types.is_large_string(each.type))
    return sum(pc.max(pc.binary_length(each)).as_py() or 0 for each in texts)


def _refuse_value(batch: pa.RecordBatch, path: Path, before: int) -> None:
    """Raise ``UserError`` that names the first value Python cannot hold; ``before``: rows before the batch."""
    for row in range(len(batch)):
        for column in batch.column_names:
            try:
                batch[column][row].as_py()
            except (ValueError, OverflowError) as error:
                raise UserError(
                    f"{path}: row {before + row + 1}: column '{printable(column)}' holds a value that cannot be read "
                    f"({_line(error)}); correct it, or remove the row"
                ) from None


def _line(error: Exception) -> str:
    return printable(next(iter(str(error).splitlines()), type(error).__name__))


def _text(value: Any, role: str, column: str, where: str, settings: ReaderSettings) -> str:
    """Return what ``value``, which is not a ``str``, reads as. Raises ``UserError`` where it is not text."""
    if value is None:
        if role in settings.filled:
            raise UserError(
                f"{where}: '{column}' is null; write the {role} (\"\" where it is empty), or remove the row"
            )
        return ""
    if isinstance(value, bytes):
        try:
            return value.decode(settings.table_encoding)
        except (LookupError, UnicodeError):
            remedy = "set the corpus key 'encoding' to the encoding of the column"
            raise UserError(
                f"{where}: column '{column}' holds bytes that are not {settings.table_encoding}; "
                f"{remedy if settings.has_keys else 'store the column as text'}"
            ) from None
    if role not in ("text", "prompt") and _is_whole(value):
        return str(int(value))
    counted = role == "date" and settings.date_format in EPOCH_UNITS  # pandas stores them as 1262304000.0
    if (role in settings.numbers or counted) and isinstance(value, float):
        return "" if math.isnan(value) else str(value)
    if role == "date" and isinstance(value, datetime.date):
        return str(value)
    kind = f"the number {value}" if isinstance(value, float) else f"a value of type {type(value).__name__}"
    wanted = "text" if role in ("text", "prompt") else "text or a whole number"
    other = f", or name another column as '{role}' under the corpus key 'columns'" if settings.has_keys else ""
    raise UserError(f"{where}: column '{column}' holds {kind}, not {wanted}; store the column as text{other}")
