"""Rows of a CSV, JSONL or Parquet table as plain strings, for the readers that take any of the three."""

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from favor.corpora.dates import EPOCH_UNITS
from favor.corpora.delimited import column_positions, read_columns, read_delimited
from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import open_text, too_large
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
# What pyarrow raises on a damaged file, on text that is not UTF-8, and on a date after the year 9999.
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
        yield from _parquet_rows(file, path, file.schema_arrow.names)
    elif suffix in JSONL_SUFFIXES:
        yield from _json_lines(path, settings)
    else:
        records = read_delimited(path, settings)
        header = next(records).fields
        for record in records:
            yield record.label, dict(zip(header, record.fields, strict=True))


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
    objects: Iterator[tuple[str, Mapping[str, object]]] = _json_lines(path, settings)
    if suffix not in JSONL_SUFFIXES:
        found = set(table_columns(path, settings))
        names = {role: name for role, name in names.items() if role in needed or name in found}
        if suffix not in PARQUET_SUFFIXES:
            for label, values in read_columns(path, settings, list(names.values()), names.get("author"), expected):
                yield Row(label, dict(zip(names, values, strict=True)))
            return
        file = _parquet(path)
        header = _parquet_columns(file.schema_arrow)
        positions = column_positions(header, list(names.values()), str(path), expected, settings.has_keys)
        names = {role: header[at] for role, at in zip(names, positions, strict=True)}  # with the spaces around them
        objects, needed = _parquet_rows(file, path, list(names.values())), set()  # of an object that is null, parts are
    for label, nested in objects:
        texts, row = {}, {**nested, **_flat(nested)}
        for role, column in names.items():
            if role in needed and column not in row:
                raise UserError(f"{path}: {label}: key '{column}' is missing; expected {expected}")
            value = row.get(column)
            texts[role] = value if type(value) is str else _text(value, role, column, f"{path}: {label}", settings)
        yield Row(label, texts)


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".zip")]
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in (".csv", ".tsv", ".txt", *JSONL_SUFFIXES, *PARQUET_SUFFIXES):
        remedy = "name it .csv, .tsv, .jsonl or .parquet (the first two also .gz or .zip)"
        packed = path.suffix.lower() in (".gz", ".zip")
        raise UserError(f"{path}: not a table; {'unpack it, or ' if packed else ''}{remedy}")
    return suffix


def _json_lines(path: Path, settings: ReaderSettings) -> Iterator[tuple[str, dict[str, object]]]:
    empty, longest = True, settings.maximum_field_characters
    with open_text(path, settings.table_encoding, JSONL_SUFFIXES, settings.has_keys) as (stream, name):
        for number, line in enumerate(iter(lambda: stream.readline(longest + 1), ""), start=1):
            label = f"line {number}"
            if len(line) > longest:
                raise UserError(f"{name}: {label} is longer than {longest:,} characters; give one object per line")
            if not line.strip():
                continue
            if empty and line.lstrip().startswith("["):
                raise UserError(f"{name}: {label} begins a JSON array; write one object per line")
            empty = False
            try:
                row = json.loads(line, object_pairs_hook=_object)
            # Broken JSON, a key given twice, an integer of thousands of digits, brackets in brackets without end.
            except (ValueError, RecursionError) as error:
                raise UserError(f"{name}: {label} is not complete JSON ({error}); fix or remove the line") from None
            if not isinstance(row, dict):
                raise UserError(f"{name}: {label} is not a JSON object; give one object per line")
            yield label, row
    if empty:
        raise UserError(f"{name}: is empty; fetch the file again")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
        raise ValueError(f"key {repeated!r} is given twice")
    return found


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; check the corpus key 'path'") from None
    except DAMAGED_PARQUET as error:
        raise UserError(f"{path}: not a complete Parquet file ({_line(error)}); fetch it again") from None


def _parquet_rows(file: pq.ParquetFile, path: Path, columns: list[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    number, packed, unpacked = 0, path.stat().st_size, 0
    try:
        for batch in file.iter_batches(batch_size=256, columns=columns):
            unpacked += sum(map(_unpacked, batch.columns))
            if too_large(unpacked, packed):
                raise UserError(
                    f"{path}: {packed:,} bytes hold over {unpacked:,} of text in its first {number + len(batch):,} "
                    "rows, more than text does; a dictionary repeats them"
                )
            try:
                rows = iter(batch.to_pylist())
            except (ValueError, OverflowError):  # a string that is not UTF-8, a date after the year 9999
                rows = _one_by_one(batch)
            for row in rows:
                number += 1
                yield f"row {number}", row
    except DAMAGED_PARQUET as error:
        problem = f"row {number + 1:,} cannot be read ({_line(error)})"
        raise UserError(f"{path}: {problem}; correct it, or fetch the file again") from None


def _unpacked(column: pa.Array) -> int:
    """Return the bytes of the texts of a column, which a dictionary may repeat."""
    if isinstance(column, pa.StructArray):
        return sum(map(_unpacked, column.flatten()))
    texts = column.dictionary if isinstance(column, pa.DictionaryArray) else column
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        return 0
    lengths = pc.binary_length(texts)
    return pc.sum(lengths if texts is column else lengths.take(column.indices)).as_py() or 0


def _one_by_one(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """Yield the rows up to one with a value that Python cannot hold, whose column is named."""
    for at in range(len(batch)):
        row = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                row[name] = column[at].as_py()
            except (ValueError, OverflowError) as error:
                raise ValueError(f"column '{printable(name)}': {_line(error)}") from None
        yield row


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
