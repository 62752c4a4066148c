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

from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.sources import known_encoding
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS = {"date": "date", "topic": "topic"}
SUFFIXES = (".txt", ".md", ".markdown")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<keys>(?:(?:[\w-]+:.*|[ \t]*-[ \t].*|[ \t]*)\n)*?)---[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"^(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sign>[-_.]?)(?P<month>\d{2})(?P=sign)(?P<day>\d{2})(?!\d)")


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every author, authors and files in name order.

    Raises ``UserError`` where ``path`` is not such a folder, or a file cannot be read as text in the encoding.
    """
    names = settings.column_names(COLUMNS)
    encoding = known_encoding(settings.table_encoding)
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
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
            f"{path}: {len(files) - len(texts):,} files are not read, for they are none of {', '.join(SUFFIXES)}; the "
            f"first is {printable(first.as_posix())}",
            file=sys.stderr,
        )
    for file in texts:
        label = printable(file.as_posix())
        if len(file.parts) < 2:
            raise UserError(f"{path}: {label} is in no author's folder; move it into one, or remove it")
        text = _read(path / file, label, path, encoding, settings.maximum_field_characters)
        keys: dict[str, str] = {}
        if front := _FRONT_MATTER.match(text):
            text = text[front.end() :]
            keys = {key["name"]: key["value"].strip("\"'") for key in _KEY.finditer(front["keys"])}
        day = keys.get(names["date"]) or _day_in(file.stem, settings.date_format)
        yield RawPost(file.parts[0], keys.get(names["topic"]) or UNKNOWN_TOPIC, "", text, day, label)


def _read(file: Path, label: str, folder: Path, encoding: str, most: int) -> str:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{folder}: {label} cannot be read ({error.strerror}); fix its permissions") from None
    try:
        text = content.decode(encoding)
    except UnicodeError:
        raise UserError(
            f"{folder}: {label} holds bytes that are not {encoding.removesuffix('-sig')}; save it so, or set the "
            "corpus key 'encoding'"
        ) from None
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
