"""Reading delimited text (CSV) strictly and as a stream: a broken row stops the run and is named."""

import csv
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

from favor.corpora.posts import ReaderSettings
from favor.corpora.sources import open_text
from favor.foundation.errors import UserError
from favor.foundation.names import printable

SUFFIXES = (".csv", ".tsv", ".txt")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LISTED_COLUMNS = 50
LOOKED_AT = 20  # rows, with the header, that tell the sign between the columns
BYTE_ORDER_MARK = "\ufeff"
_EXCEL = re.compile('"?sep=(?P<sign>[^\r\n])"?\r?\n', re.IGNORECASE)  # a first line that names the separator to Excel
LINE_END = re.compile(r"\r\n|\r|\n")


class Record(NamedTuple):
    """One row: its label for messages ("row 12 (line 34)"; the header is row 0), its fields, and its lines."""

    label: str
    fields: list[str]
    lines: int = 1


def read_delimited(path: Path, settings: ReaderSettings) -> Iterator[Record]:
    """Yield the header as the first record, then every row, all with as many fields as the header.

    Blank lines are skipped. Raises ``UserError``, naming file, row and the line the row starts at, where the file is
    empty, a quote is left open or followed by text, a row has another number of fields than the header, or the bytes
    do not fit the encoding.
    """
    csv.field_size_limit(settings.maximum_field_characters)
    delimiter = delimiter_of(path, settings)
    label = "row 0 (line 1)"
    with open_text(path, settings.table_encoding, SUFFIXES, settings.has_keys) as (stream, name):
        reader = csv.reader(_lines(stream, settings.maximum_field_characters), delimiter=delimiter, strict=True)
        width = row = line = 0
        try:
            for fields in reader:
                if fields:
                    width = width or len(fields)
                    if len(fields) != width:
                        if width == 1:
                            raise UserError(
                                f"{name}: its first line is not the names of columns: {label} has {len(fields)} "
                                "fields, it has one; remove what comes before the names"
                            )
                        raise _broken(name, label, f"has {len(fields)} fields, the header has {width}")
                    yield Record(label, fields, reader.line_num - line)
                    row += 1
                line = reader.line_num
                label = f"row {row} (line {line + 1})"
        except csv.Error as error:
            raise _broken(name, label, f"is broken off: {error}") from None
        if not width:
            raise UserError(f"{name}: is empty; fetch the file again")


def delimiter_of(path: Path, settings: ReaderSettings) -> str:
    """Return the sign between the columns: as set, the tab of a .tsv, or what divides the header and the first rows.

    It is the one that makes most columns, of those that make as many of the first rows as of the header if any do; the
    comma before others.
    """
    if settings.separator is not None:
        return settings.separator
    if ".tsv" in path.suffixes:
        return "\t"
    with open_text(path, settings.table_encoding, SUFFIXES, settings.has_keys) as (stream, _):
        if named := _EXCEL.fullmatch(stream.readline(99)):
            return named["sign"]
    return max(SEPARATORS, key=lambda sign: _columns(path, settings, sign))


def _lines(stream: TextIO, longest: int) -> Iterator[str]:
    """Yield the lines of a table; the one that names the separator to Excel comes as a blank one.

    Raises ``csv.Error`` at a line that is longer than a field may be, before it fills the memory.
    """
    for number, line in enumerate(iter(lambda: stream.readline(longest + 1), "")):
        if len(line) > longest:
            raise csv.Error(f"its line is longer than {longest:,} characters")
        yield "\n" if not number and _EXCEL.fullmatch(line) else line


def _columns(path: Path, settings: ReaderSettings, sign: str) -> tuple[bool, int]:
    """Return whether ``sign`` makes as many columns of the first rows as of the header, two or more, and how many."""
    header: list[str] = []
    alike = False
    with open_text(path, settings.table_encoding, SUFFIXES, settings.has_keys) as (stream, _):
        lines = _lines(stream, settings.maximum_field_characters)
        try:
            for fields in islice(filter(None, csv.reader(lines, delimiter=sign, strict=True)), LOOKED_AT):
                header = header or fields
                if len(fields) != len(header):
                    break
            else:
                alike = True
        except csv.Error:  # said where the rows are read
            pass
    columns = len(header) if all(field.strip() for field in header) else min(len(header), 1)
    return alike and columns > 1, columns


def _broken(name: str, label: str, what: str) -> UserError:
    return UserError(f"{name}: {label} {what}; close its quotes (double those inside a field) or remove the row")


def column_positions(
    header: Sequence[str], names: Sequence[str], name: str, expected: str, has_keys: bool = True
) -> list[int]:
    """Return the position of each of ``names`` in ``header``.

    Raises ``UserError`` naming the file ``name`` and the column that is missing or there twice, with ``expected``, the
    columns there should be. has_keys: whether the configuration has a key ``columns`` for the file.
    """
    header = [column.strip() for column in header]
    for column in names:
        if column not in header:
            found = printable(", ".join(header[:LISTED_COLUMNS])) + (", ..." if len(header) > LISTED_COLUMNS else "")
            keys = "or name the file's own columns under the corpus key 'columns'"
            remedy = keys if has_keys else "rename the column"
            if has_keys and len(header) == 1:
                remedy += ", or its 'separator'"
            raise UserError(
                f"{name}: column '{column}' is missing (found: {found or 'none'}); expected {expected}, {remedy}"
            )
        if header.count(column) > 1:
            raise UserError(
                f"{name}: {header.count(column)} columns are named '{column}'; rename all but the one to be read"
            )
    return [header.index(column) for column in names]


def read_columns(
    path: Path, settings: ReaderSettings, columns: Sequence[str], author: str | None, expected: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (label, values of ``columns``) of every row; ``author`` is the column of authors, if there is one.

    Raises what :func:`read_delimited` does, and ``UserError`` where a column is missing or there twice, or where a
    field with an unclosed quote has swallowed a row.
    """
    delimiter = delimiter_of(path, settings)
    if settings.separator is None and delimiter != "," and ".tsv" not in path.suffixes:
        key = "; the corpus key 'separator' sets another" * settings.has_keys
        print(f"{path}: the columns are separated by {SEPARATORS[delimiter]}{key}", file=sys.stderr)
    settings = settings.model_copy(update={"separator": delimiter})
    records = read_delimited(path, settings)
    header = next(records).fields
    names = [_as_name(field) for field in header]
    positions = column_positions(header, columns, str(path), expected, settings.has_keys)
    author_at = 0 if author is None else positions[columns.index(author)]
    swallowed = None if author is None else _SwallowedRows(str(path), len(header), author_at, delimiter)
    for record in records:
        if swallowed is not None:
            swallowed.look(record)
        fields = record.fields
        who = fields[author_at]
        # A file put together from several may have the byte-order mark of each, and headers that differ in case.
        repeated = _as_name(who) == names[author_at] and [_as_name(field) for field in fields] == names
        if repeated or (author is not None and who.startswith(BYTE_ORDER_MARK)):
            raise UserError(
                f"{path}: {record.label} repeats the header or begins with a byte-order mark; remove it, and check "
                "whether files were put together that share posts or authors"
            )
        yield record.label, tuple([fields[at] for at in positions])
    if swallowed is not None:
        swallowed.finish()
    for line in suspicions(path):
        print(f"{path}: {line}", file=sys.stderr)


def suspicions(path: Path) -> Iterator[str]:
    """Yield a line where a table's last row ends without a line break or a quote: the file may have been cut there."""
    if path.suffix.lower() in SUFFIXES and path.is_file():
        with path.open("rb") as file:
            file.seek(-min(4, path.stat().st_size), os.SEEK_END)
            if not re.search(rb'[\r\n"]', file.read().replace(b"\0", b"")[-2:]):  # NUL: UTF-16 and UTF-32 have them
                yield "its last row ends without a line break; if the file was cut there, fetch it again"


def _as_name(field: str) -> str:
    return field.strip().removeprefix(BYTE_ORDER_MARK).strip().casefold()


class _SwallowedRows:
    """Finds the rows that a field has swallowed because its quote is closed by a later row only.

    Such a file is well-formed. A row without quotes can be swallowed and no other, because a quote within would have
    broken the file: it is one line, and its fields hold no delimiter. So rows can be read back from the end of the
    field. The columns around the start of a line are believed to be a row's where they look like those columns
    elsewhere and either the author is known from another row, or at least three columns speak for it. An author may
    be known by a later row only, so nothing is said before :meth:`finish`.
    """

    LEARNT_ROWS = 1000
    FORMS = 30  # a column of more forms is free text and says nothing
    LONGEST = 200

    def __init__(self, name: str, width: int, author: int, delimiter: str) -> None:
        self._name, self._width, self._author, self._delimiter = name, width, author, delimiter
        self._authors: set[str] = set()
        self._forms: list[set[str]] = [set() for _ in range(width)]
        self._learnt = 0
        self._suspects: dict[tuple[str | None, ...], str] = {}
        self._like_rows: list[str] = []

    def look(self, record: Record) -> None:
        fields = record.fields
        self._authors.add(fields[self._author])
        if self._learnt < self.LEARNT_ROWS:
            self._learnt += 1
            for forms, field in zip(self._forms, fields, strict=True):
                if len(forms) <= self.FORMS:
                    forms.add(_form(field[: self.LONGEST]))
        if record.lines > 1:
            for at, field in enumerate(fields):
                if ("\n" in field or "\r" in field) and at != self._author:
                    self._compare_lines(field, record)
                    for found in self._row_ends(field, at):
                        self._suspects.setdefault(found, record.label)

    def _compare_lines(self, field: str, record: Record) -> None:
        """Of two columns too little speaks for a row: a field whose every further line looks like one is only named."""
        lines = LINE_END.split(field)[1:]
        if self._width == 2 and len(lines) > 1 and all(line.count(self._delimiter) == 1 for line in lines):
            self._like_rows.append(f"{record.label}: every line of a field of {len(lines) + 1} lines is")

    def finish(self) -> None:
        """Raise ``UserError`` naming the first row that has swallowed another, if one has."""
        if self._like_rows:
            more = f" ({len(self._like_rows)} such fields)" if len(self._like_rows) > 1 else ""
            print(
                f"{self._name}: {self._like_rows[0]} written like a row{more}; close its quote if rows went into it",
                file=sys.stderr,
            )
        for found, label in self._suspects.items():
            author = found[self._author]
            telling = [
                _form(value) in self._forms[at]
                for at, value in enumerate(found)
                if value and len(self._forms[at]) <= self.FORMS and not (at == self._author and value in self._authors)
            ]
            if all(telling) and (author in self._authors or len(telling) >= 3):
                raise UserError(
                    f"{self._name}: {label} is broken: a field holds the row after it (author {author!r}); close its "
                    "quote. If the text is meant so, give the corpus as JSON Lines or Parquet, which need no quotes"
                )

    def _row_ends(self, field: str, at: int) -> Iterator[tuple[str | None, ...]]:
        """Yield the columns around the start of every line that may be a row's, last line first; None at ``at``."""
        start = max(field.rfind("\n"), field.rfind("\r")) + 1
        if field.count(self._delimiter, start) != at:
            return
        *lines, last = LINE_END.split(field)
        head, after = last.split(self._delimiter), self._width - 1 - at
        for line in reversed(lines):
            tail = line.rsplit(self._delimiter, after)
            if len(tail) <= after:
                return
            found = (*head[:at], None, *tail[1:])
            if found[self._author] and all(len(value or "") <= self.LONGEST for value in found):
                yield found
            head = line.split(self._delimiter)
            if len(head) != self._width:
                return


def _form(value: str) -> str:
    """Return ``value`` with every run of letters or of digits as one sign: "14 May" and "3 June" are alike."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", value))
