"""Texts of one author or of several, from files, folders and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from favor.corpora.posts import ReaderSettings
from favor.corpora.tabular import read_rows, table_columns
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.words import document_words

PLAIN = (".txt", ".md", ".markdown")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".gz", ".zip")
WORDS = document_words("unicode")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_READS = f"a text ({', '.join(PLAIN)}), a folder of such texts, or a table ({', '.join(TABLES)}) with a column 'text'"


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts at ``path`` by name: of a file itself, of every file in a folder, or of the rows of a table.

    Texts without a word are left out. Raises ``UserError`` where nothing is left or a file cannot be read.
    """
    found = {name: text for name, text in _texts(path) if WORDS.count(text)}
    if not found:
        raise UserError(f"{path}: holds no text; give {_READS}")
    return found


def read_author(path: Path) -> list[str]:
    """Return one author's texts. A table that names several authors is refused."""
    if path.suffix.lower() in TABLES and len(names := {author for author, _ in _rows(path)} - {""}) > 1:
        raise UserError(f"{path}: holds texts of {len(names)} authors; keep the rows of one, or give it as --contrast")
    return list(read_texts(path).values())


def read_authors(path: Path) -> dict[str, list[str]]:
    """Return several authors' texts: a table with a column 'author', or a folder with one folder for each."""
    found: dict[str, list[str]] = {}
    if path.is_dir():
        for folder in sorted(each for each in path.iterdir() if each.is_dir()):
            if texts := [text for _, text in _texts(folder) if WORDS.count(text)]:
                found[folder.name] = texts
    else:
        for author, text in _rows(path):
            if WORDS.count(text):
                found.setdefault(author, []).append(text)
        found.pop("", None)
    if not found:
        wanted = "a folder with one folder of texts per author, or a table with columns 'author' and 'text'"
        raise UserError(f"{path}: names no author; give {wanted}")
    return found


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_dir():
        for file in sorted(each for each in path.rglob("*") if each.suffix.lower() in PLAIN and each.is_file()):
            yield str(file.relative_to(path)), _plain(file)
    elif path.suffix.lower() in PLAIN:
        yield path.name, _plain(path)
    else:
        for number, (_, text) in enumerate(_rows(path), start=1):
            yield f"row {number}", text


def _plain(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; check the name") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the file") from None
    except UnicodeError:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    return text if path.suffix.lower() == ".txt" else _FRONT_MATTER.sub("", text)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix.lower() not in TABLES:
        raise UserError(f"{printable(str(path))}: cannot be read; give {_READS}")
    if not path.is_file():
        raise UserError(f"{path}: file not found; check the name")
    settings = ReaderSettings(has_keys=False)
    columns = {"author": "author", "text": "text"} if "author" in table_columns(path, settings) else {"text": "text"}
    for _, row in read_rows(path, settings, columns, ("text",), "text (optional: author)"):
        yield row.get("author", "").strip(), row["text"]
