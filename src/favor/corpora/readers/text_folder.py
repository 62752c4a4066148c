"""A folder with one folder per author, which holds one text file (.txt, .md) per post: AUTHOR/anything.txt.

A post's date is that of its front matter, or of its file's name (2004-05-14 or 20040514, anywhere in it). Front matter
is what stands between a first line "---" and the next one, where all of it is "key: value" lines, lists and blank
lines. It is no part of the post. ``columns`` names its keys of date and topic where they differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.sources import known_encoding
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS = {"date": "date", "topic": "topic"}
SUFFIXES = (".txt", ".md", ".markdown")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<keys>(?:(?:[\w-]+:.*|[ \t]*-[ \t].*|[ \t]*)\n)*?)---[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"^(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sign>[-_.]?)(?P<month>\d{2})(?P=sign)(?P<day>\d{2})(?!\d)")


class TextFile(NamedTuple):
    """A text file: its place in the folder, its text without front matter, and the keys of that."""

    place: Path
    text: str
    keys: dict[str, str]


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every author, authors and files in name order.

    Raises ``UserError`` where ``path`` is not such a folder, or a file cannot be read as text in the encoding.
    """
    names = settings.column_names(COLUMNS)
    for place, text, keys in text_files(path, settings):
        label = printable(place.as_posix())
        if len(place.parts) < 2:
            raise UserError(f"{path}: {label} is in no author's folder; move it into one, or remove it")
        day = keys.get(names["date"]) or _day_in(place.stem, settings.date_format)
        yield RawPost(place.parts[0], keys.get(names["topic"]) or UNKNOWN_TOPIC, "", text, day, label)


def text_files(path: Path, settings: ReaderSettings) -> Iterator[TextFile]:
    """Yield the text files below a folder in name order, without hidden ones; others are counted on the terminal.

    Raises ``UserError`` as :func:`read`.
    """
    if not path.is_dir():
        raise UserError(f"{path}: is not a folder; give one that holds a folder of text files per author")
    files = sorted((file.relative_to(path) for file in path.rglob("*") if file.is_file()), key=lambda each: each.parts)
    files = [file for file in files if not any(part.startswith(".") for part in file.parts)]
    texts = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not texts:
        raise UserError(f"{path}: holds no text file ({', '.join(SUFFIXES)}); give a folder of text files per author")
    if len(files) > len(texts):
        first = next(file for file in files if file.suffix.lower() not in SUFFIXES)
        print(
            f"{path}: {len(files) - len(texts):,} files are not read, because their names do not end in "
            f"{', '.join(SUFFIXES)}; the first is {printable(first.as_posix())}",
            file=sys.stderr,
        )
    for file in texts:
        yield text_file(path, file, settings)


def text_file(folder: Path, place: Path, settings: ReaderSettings) -> TextFile:
    """Return the text file at ``place`` in ``folder``."""
    text = _read(folder, place, settings)
    front = _FRONT_MATTER.match(text)
    if not front:
        return TextFile(place, text, {})
    keys = {key["name"]: key["value"].strip("\"'") for key in _KEY.finditer(front["keys"])}
    return TextFile(place, text[front.end() :], keys)


def _read(folder: Path, place: Path, settings: ReaderSettings) -> str:
    label, most = printable(place.as_posix()), settings.maximum_field_characters
    encoding = known_encoding(settings.table_encoding)
    try:
        text = (folder / place).read_bytes().decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except OSError as error:
        raise UserError(f"{folder}: {label} cannot be read ({error.strerror}); check the file") from None
    except UnicodeError:
        remedy = "; save it so, or set the corpus key 'encoding'" if settings.has_keys else "; save it so"
        raise UserError(f"{folder}: {label} holds bytes that are not {encoding}{remedy}") from None
    if "\0" in text or len(text) > most:
        what = "holds a NUL" if "\0" in text else f"is longer than {most:,} characters"
        raise UserError(f"{folder}: {label} {what}, so it is not one post's text; remove it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _day_in(name: str, form: str | None) -> str:
    """Return the first day that a file's name holds, in ``form`` where the dates have one; "" if it holds none."""
    for found in _DAY.finditer(name):
        try:
            day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        except ValueError:
            continue
        return day.strftime(form) if form else day.isoformat()
    return ""
