"""Reading delimited text (CSV) strictly and as a stream: a broken row stops the run and is named."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import encoding_error, open_text
from favor.foundation.errors import UserError

SUFFIXES = (".csv", ".tsv", ".txt")


class Record(NamedTuple):
    """One row: its label for messages ("row 12 (line 34)"; the header is row 0) and its fields."""

    label: str
    fields: list[str]


def read_delimited(path: Path, settings: ReaderSettings) -> Iterator[Record]:
    """Yield the header as the first record, then every row, all with as many fields as the header.

    Blank lines are skipped. Raises ``UserError``, naming file, row and the line the row starts at, where the file is
    empty, a quote is left open or followed by text, a row has another number of fields than the header, or the bytes
    do not fit ``settings.encoding``.
    """
    csv.field_size_limit(settings.maximum_field_characters)
    label = "row 0 (line 1)"
    with open_text(path, settings.encoding, SUFFIXES) as (stream, name):
        reader = csv.reader(stream, delimiter="\t" if ".tsv" in path.suffixes else ",", strict=True)
        width = row = 0
        try:
            for fields in reader:
                if fields:
                    width = width or len(fields)
                    if len(fields) != width:
                        raise _broken(name, label, f"has {len(fields)} fields, the header has {width}")
                    yield Record(label, fields)
                    row += 1
                label = f"row {row} (line {reader.line_num + 1})"
        except csv.Error as error:
            raise _broken(name, label, f"is broken off: {error}") from None
        except UnicodeDecodeError:
            raise encoding_error(path, settings.encoding, SUFFIXES, name, _undecodable_row(path, settings)) from None
        if not width:
            raise UserError(f"{name}: is empty; fetch the file again")


def _broken(name: str, label: str, what: str) -> UserError:
    return UserError(f"{name}: {label} {what}; close its quotes (double those inside a field) or remove the row")


def _undecodable_row(path: Path, settings: ReaderSettings) -> str:
    # The stream is decoded in blocks ahead of the row being parsed, so the row is looked up in a second, lenient pass.
    with open_text(path, settings.encoding, SUFFIXES, errors="surrogateescape") as (stream, _):
        reader = csv.reader(stream)
        row, line = 0, 1
        for fields in reader:
            if any("\udc80" <= character <= "\udcff" for field in fields for character in field):
                break
            row += bool(fields)
            line = reader.line_num + 1
    return f"row {row} (line {line})"


def column_positions(header: Sequence[str], names: Sequence[str], name: str, expected: str) -> list[int]:
    """Return the position of each of ``names`` in ``header``.

    Raises ``UserError`` naming the file ``name``, the missing column and ``expected``, the columns there should be.
    """
    header = [column.strip() for column in header]
    for column in names:
        if column not in header:
            raise UserError(
                f"{name}: column '{column}' is missing (found: {', '.join(header)}); expected {expected}, "
                "or name the file's own columns under the corpus key 'columns'"
            )
    return [header.index(column) for column in names]
