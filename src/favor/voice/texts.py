"""Texts of one author or of several, from files, folders and tables."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from favor.corpora.posts import ReaderSettings
from favor.corpora.tabular import AUTHOR_COLUMNS, read_rows, table_rows
from favor.exports.items import listed
from favor.exports.text_folder import SUFFIXES, TextFile, read, text_file, text_files
from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.words import document_words

AUTHOR_WORDS = 3000  # of an author at least: half of them make the profile, half the ceiling
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".gz", ".zip")
SHOWN = 5  # names in a message
WORDS = document_words("unicode")
_SETTINGS = ReaderSettings(has_keys=False)
_READS = (
    f"a text ({', '.join(SUFFIXES)}), a folder of such texts, or a table ({', '.join(TABLES)}) with a column 'text'"
)


def read_texts(path: Path) -> dict[str, str]:
    """Return the texts at ``path`` by name: of a file itself, of every file in a folder, or of the rows of a table.

    Texts without a word are left out. Raises ``UserError`` where nothing is left or a file cannot be read.
    """
    if path.is_dir():
        texts = {file.place.as_posix(): file.text for file in text_files(path, _SETTINGS)}
    elif path.suffix.lower() in SUFFIXES:
        texts = {path.name: text_file(path.parent, Path(path.name), _SETTINGS).text}
    else:
        texts = {f"row {number}": text for number, (_, text) in enumerate(_rows(path, alone=False), start=1)}
    found = {name: text for name, text in texts.items() if WORDS.count(text)}
    if not found:
        raise UserError(f"{path}: holds no text; give {_READS}")
    return found


def read_author(path: Path) -> list[str]:
    """Return one author's texts without drafts. What names several authors is refused."""
    if path.is_dir():
        if texts := [file.text for file in own_files(path) if WORDS.count(file.text)]:
            return texts
        raise UserError(f"{path}: holds no text of one author; give {_READS}")
    if path.suffix.lower() in TABLES:
        rows = Counter(author for author, _ in _rows(path))
        names = rows.keys() - {""}
        if len(names) > 1:
            remedy = "keep the rows of one, or give it as --contrast"
            raise UserError(f"{path}: holds texts of {len(names)} authors; {remedy}")
        if names and rows[""]:
            whose = f"rows that name nobody are taken as those of {printable(*names)}: {rows['']}"
            print(f"{path}: {whose}", file=sys.stderr)
    return list(read_texts(path).values())


def own_files(path: Path, author: str = "") -> list[TextFile]:
    """Return one writer's text files below a folder; drafts and texts of others are counted on the terminal.

    Front matter may name ``author``, or one person where it is "". Raises ``UserError`` where it names others alone.
    """
    files = list(text_files(path, _SETTINGS))
    named = {file.authors[0].casefold(): file.authors[0] for file in files if file.authors and not file.left_out}
    mine = author.casefold() or next(iter(named), "")
    if (named and mine not in named) or (len(named) > 1 and not author):
        found = ", ".join(map(printable, sorted(named.values())[:SHOWN]))
        remedy = f"'{printable(author)}' is not among them" if author else "keep the texts of one"
        raise UserError(f"{path}: front matter names {len(named)} authors ({found}); {remedy}")
    reasons = [
        file.left_out or ("" if not file.authors or file.authors[0].casefold() == mine else "by another")
        for file in files
    ]
    if counts := Counter(filter(None, reasons)):
        print(f"{path}: left out: {listed(counts)}", file=sys.stderr)
    inside = sorted({file.place.parts[0] for file in files if len(file.place.parts) > 1})
    if len(inside) > 1:
        shown = ", ".join(map(printable, inside[:SHOWN])) + (", ..." if len(inside) > SHOWN else "")
        print(f"{path}: its {len(inside)} folders ({shown}) are taken as one person's texts", file=sys.stderr)
    return [file for file, reason in zip(files, reasons, strict=True) if not reason]


def read_authors(path: Path) -> dict[str, list[str]]:
    """Return several authors' texts: a table with a column 'author', or a folder with one folder for each."""
    rows = ((post.author, post.text) for post in read(path, _SETTINGS)) if path.is_dir() else _rows(path)
    found: dict[str, list[str]] = {}
    for author, text in rows:
        if author and WORDS.count(text):
            found.setdefault(author, []).append(text)
    if not found:
        remedy = "give a table with columns 'author' and 'text', or a folder of folders"
        raise UserError(f"{path}: names no author; {remedy}")
    return found


def _rows(path: Path, alone: bool = True) -> Iterator[tuple[str, str]]:
    """Yield author ("" where the table has none) and text of every row; ``alone``: as :func:`has_authors`."""
    if not path.exists():
        raise UserError(f"{printable(str(path))}: file not found; check the name")
    if path.suffix.lower() not in TABLES:
        raise UserError(f"{printable(str(path))}: cannot be read; give {_READS}")
    columns = {"author": "author", "text": "text"} if has_authors(path, _SETTINGS, alone) else {"text": "text"}
    for _, row in read_rows(path, _SETTINGS, columns, ("text",), "text (optional: author)"):
        yield row.get("author", "").strip(), row["text"]


def has_authors(path: Path, settings: ReaderSettings, alone: bool = True) -> bool:
    """Return whether a table has a column of authors, in whichever of its rows.

    alone: whether a table without one is of one person. Raises ``UserError`` then where another column names several.
    """
    named = settings.columns.get("author", "author")
    people: dict[str, set[str]] = {}
    for row in table_rows(path, settings):
        if named in row:
            return True
        for column, person in row.items():
            if not {column.casefold(), column.rpartition(".")[0].casefold()}.isdisjoint(AUTHOR_COLUMNS):
                people.setdefault(column, set()).add(person)
    for column, found in people.items():
        if alone and len(found - {""}) > 1:
            raise UserError(
                f"{path}: column '{printable(column)}' names {len(found - {''})} people; call it 'author', or keep the "
                "rows of one and take the column out"
            )
    return False
