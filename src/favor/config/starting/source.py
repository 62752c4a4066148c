"""What a file or folder of posts is, and how much text its authors have once it is read and cleaned."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pandas as pd

from favor.config.starting.columns import Roles, check_header, look, roles_of
from favor.config.starting.sizes import LONG_POST
from favor.corpora.building import build_documents
from favor.corpora.dates import names_days
from favor.corpora.delimited import SUFFIXES, delimiter_of
from favor.corpora.documents import stream_documents
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.settings import Cleaning, Splitting
from favor.corpora.sources import (
    DAMAGED_CONTENTS,
    START,
    known_encoding,
    open_bytes,
    open_zip,
    undecodable_place,
    utf_16,
)
from favor.corpora.splits import split_documents
from favor.corpora.tabular import JSONL_SUFFIXES, PARQUET_SUFFIXES, table_rows
from favor.exports import blog_xml, text_folder, whatsapp
from favor.exports.files import Files
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.registry import EXPORTS

TABLES = (*SUFFIXES, *JSONL_SUFFIXES, *PARQUET_SUFFIXES)
ENCODINGS = ("utf-8", "cp1252")
REMEDIES = {  # for what people have and is no table here
    (".xlsx", ".xls", ".ods"): "save it as CSV in UTF-8, with one line of column names",
    (".json",): "write it as JSON Lines (.jsonl), one object per line",
    (".zip", ".gz"): "unpack it, or name one table's archive after it, such as posts.csv.zip",
}


class Source(NamedTuple):
    """A corpus that was looked at.

    reader: its reader. encoding, separator: where they are not the reader's own. roles: of its columns, if it has any.
    words: the unit of words. authors: documents, words and long test posts per author. columns: of the table.
    dropped: rows by reason, as :func:`favor.corpora.building.build_documents` counts them.
    """

    path: Path
    reader: str
    encoding: str | None
    separator: str | None
    roles: Roles
    words: str
    authors: pd.DataFrame
    columns: list[str]
    dropped: dict[str, int]


def look_at(path: Path, splitting: Splitting, date_format: str | None = None, encoding: str | None = None) -> Source:
    """Read a corpus as the workflow will; ``date_format``: the form of its dates, None to find it; so ``encoding``.

    Raises ``UserError`` where it cannot be read, or is not one of posts.
    """
    if date_format is not None and not names_days(date_format):
        raise UserError(f"--date-format '{printable(date_format)}' names no day; give one such as %d.%m.%Y")
    if encoding is not None:
        known_encoding(encoding)
    path = path.parent.resolve() / path.name
    if not path.exists():
        raise UserError(f"{path}: file not found; check the path")
    given: dict[str, Any] = {"words": "unicode", "encoding": encoding}
    columns: list[str] = []
    roles = Roles({}, [], None, "")
    reader = _reader(path)
    if reader == "table":
        given["encoding"] = _encoding(path) if encoding is None else encoding
        settings = ReaderSettings.model_validate({"encoding": given["encoding"]})
        if _is_csv(path) and ".tsv" not in path.suffixes and (sign := delimiter_of(path, settings)) != ",":
            given["separator"] = sign
        seen = look(table_rows(path, settings))
        if _is_csv(path):
            check_header(seen, str(path))
        columns, roles = list(seen), roles_of(seen, str(path), date_format)
        given["columns"] = {role: name for role, name in roles.columns.items() if role != name}
    elif reader == "whatsapp":
        roles = roles._replace(date_format=date_format or _order_of_dates(path))
    elif date_format is not None:
        raise UserError(f"{path}: --date-format is for tables and WhatsApp; dates of {reader} have one form")
    given["date_format"] = roles.date_format
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder, "documents.parquet")
        try:
            counts = _build(path, reader, given, documents)
        except UserError as error:
            if "'words: unicode'" not in str(error):
                raise
            given["words"] = "segmented"  # a language without spaces
            counts = _build(path, reader, given, documents)
        authors = _authors(documents, splitting)
    dropped = {reason: rows for reason, rows in counts.items() if rows and reason != "kept"}
    own = given.get("encoding"), given.get("separator"), roles, given["words"]
    return Source(path, reader, *own, authors, columns, dropped)


def _order_of_dates(path: Path) -> str:
    """Return a form with the order that the dates of WhatsApp have. Raises ``UserError`` where it cannot be told."""
    chats = whatsapp.EXPORT.exports(path)
    possible = set.intersection(*(whatsapp.orders(files, ReaderSettings()) for files in chats))
    if len(possible) != 1:
        told = f"may be {' or '.join(sorted(possible))}" if possible else "have no order in which all exist and follow"
        raise UserError(
            f"{path}: dates of WhatsApp {told} (d day, m month, y year); give --date-format, such as %d.%m.%y"
        )
    return whatsapp.ORDERS[possible.pop()]


def _build(path: Path, reader: str, given: Mapping[str, Any], documents: Path) -> dict[str, int]:
    source = ReaderSettings.model_validate({name: value for name, value in given.items() if name != "words"})
    cleaning = Cleaning(words=given["words"], excluded_authors=[], excluded_texts=[])
    dropped = documents.with_name("dropped.parquet")
    return build_documents(path, open_reader(reader), cleaning, documents, dropped, reader_settings=source)


def _authors(documents: Path, splitting: Splitting) -> pd.DataFrame:
    posts = pd.concat(stream_documents(documents, ("author", "document_id", "words")), ignore_index=True)
    totals = posts.groupby("author").agg(documents=("words", "size"), words=("words", "sum"))
    if totals["documents"].max() < splitting.minimum_posts:
        return totals.assign(long_test_posts=0)
    splits = split_documents(documents, splitting).splits
    test = posts.merge(splits.loc[splits["split"] == "test", ["document_id"]], on="document_id")
    long = test[test["words"] >= LONG_POST].groupby("author").size()
    return totals.assign(long_test_posts=long.reindex(totals.index, fill_value=0))


def _reader(path: Path) -> str:
    """Return the reader of a file or folder. Raises ``UserError`` where there is none."""
    suffixes = {suffix.lower() for suffix in path.suffixes} & {*TABLES}
    if path.is_file() and suffixes - {".txt"}:
        return "table"
    names = [name for name in EXPORTS.names() if name != "text_folder"]
    if export := next((name for name in names if EXPORTS.load(name).EXPORT.exports(path)), ""):
        return export
    if path.suffix.lower() == ".zip" and path.is_file():
        with suppress(*DAMAGED_CONTENTS), open_zip(path, str(path)) as archive:
            if any(blog_xml.FILE_NAME.fullmatch(PurePosixPath(name).name) for name in archive.namelist()):
                return "blog_xml"
    arrow = [*path.glob("*.arrow"), *path.glob("*/*.arrow")] if path.is_dir() else []
    if arrow or path.suffix.lower() in (".arrow", ".feather"):
        raise UserError(f"{path}: Arrow is not read; write it as Parquet in Python: {_as_parquet(path, arrow)}")
    for kinds, remedy in REMEDIES.items():
        if path.suffix.lower() in kinds and path.is_file():
            raise UserError(f"{path}: {path.suffix.lower()} is not read; {remedy}")
    if path.is_dir():
        return _folder_reader(path)
    if not suffixes:
        raise UserError(f"{path}: neither a table ({', '.join(TABLES)}) nor an export that is read; check the path")
    return "table"


def _as_parquet(path: Path, files: Sequence[Path]) -> str:
    """Return what writes Arrow as Parquet: ``files`` in a folder that ``datasets`` saved, or the one file ``path``."""
    if files:
        largest = max(files, key=lambda file: file.stat().st_size)
        split = "" if largest.parent == path else f"[{largest.parent.name!r}]"
        return f"import datasets; datasets.load_from_disk({str(path)!r}){split}.to_parquet('posts.parquet')"
    with path.open("rb") as file:
        if file.read(6) == b"ARROW1":
            return f"import pandas; pandas.read_feather({str(path)!r}).to_parquet('posts.parquet')"
    return f"import datasets; datasets.Dataset.from_file({str(path)!r}).to_parquet('posts.parquet')"


def _folder_reader(path: Path) -> str:
    files = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    if any(file.name.endswith(".xml") and file.name.count(".") == 5 for file in files):
        return "blog_xml"
    if any(file.suffix.lower() in text_folder.SUFFIXES and len(file.relative_to(path).parts) > 1 for file in files):
        return "text_folder"
    tables = sorted(printable(file.name) for file in files if file.suffix.lower() in TABLES)
    if tables:
        raise UserError(
            f"{path}: is a folder with tables or texts ({', '.join(tables[:5])}); name one table "
            "(put several into one first), or put the texts of every author into a folder of its own"
        )
    raise UserError(
        f"{path}: holds no folder of text files per author ({', '.join(text_folder.SUFFIXES)}), no export and no table"
        + Files(path).too_deep
    )


def _is_csv(path: Path) -> bool:
    return not {suffix.lower() for suffix in path.suffixes} & {*JSONL_SUFFIXES, *PARQUET_SUFFIXES}


def _encoding(path: Path) -> str | None:
    """Return the encoding of a text table: UTF-16 or the first of ``ENCODINGS``; None for UTF-8 and Parquet."""
    if {suffix.lower() for suffix in path.suffixes} & {*PARQUET_SUFFIXES}:
        return None
    with open_bytes(path, TABLES) as (stream, _):
        if found := utf_16(stream.read(START)):
            return found
    for encoding in ENCODINGS:
        if undecodable_place(path, encoding, TABLES) is None:
            return None if encoding == "utf-8" else encoding
    raise UserError(f"{path}: is not text in {' or '.join(ENCODINGS)}; save it as UTF-8")
