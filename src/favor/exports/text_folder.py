"""A folder with one folder per author, which holds one text file (.txt, .md, .html) per post: AUTHOR/anything.txt.

A post's date is that of its front matter, or of its file's name (2004-05-14 or 20040514, anywhere in it). Front matter
is what stands between a first line "---" and the next one, where all of it is "key: value" lines, lists and blank
lines, or TOML between lines "+++". It is no part of the post, and neither are quotations and code in Markdown and HTML.
``columns`` names its keys of date and topic where they differ. As an export it is one person's, in folders or not.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from favor.corpora.dates import date_of, day_of
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.sources import known_encoding
from favor.exports.files import Files
from favor.exports.items import Cut, Export, Item, listed, moment_of, tidy
from favor.exports.markup import html_text
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS = {"date": "date", "topic": "topic"}
SUFFIXES = (".txt", ".md", ".markdown", ".html", ".htm")
_MARKDOWN, _HTML = (".md", ".markdown"), (".html", ".htm")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<keys>(?:(?:[\w-]+:.*|[ \t]*-[ \t].*|[ \t]*)\n)*?)---[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+\+\+[ \t]*\n(?P<keys>(?:[^\n]*\n)*?)\+\+\+[ \t]*(?:\n|\Z)")
_KEY = re.compile(r"^(?P<name>[\w-]+)[ \t]*[:=][ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)
# A quotation ends at a blank line, because its last lines need no mark.
_MARKDOWN_CUTS = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:(?! {0,3}(?P=fence))[^\n]*\n)*(?: {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|^ {0,3}>[^\n]*(?:\n[ \t]*[^\s][^\n]*)*",
    re.MULTILINE,
)
_DAY = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sign>[-_.]?)(?P<month>\d{2})(?P=sign)(?P<day>\d{2})(?!\d)")


class TextFile(NamedTuple):
    """A text file: its place in the folder, its text without front matter, the keys of that, and what was cut."""

    place: Path
    text: str
    keys: dict[str, str]
    cuts: tuple[Cut, ...] = ()


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every author, authors and files in name order.

    Raises ``UserError`` where ``path`` is not such a folder, or a file cannot be read as text in the encoding.
    """
    names = settings.column_names(COLUMNS)
    counts = Counter[str]()
    for file in text_files(path, settings):
        place, text, keys, cuts = file
        counts.update(cut.reason for cut in cuts)
        label = printable(place.as_posix())
        if len(place.parts) < 2:
            raise UserError(f"{path}: {label} is in no author's folder; move it into one, or remove it")
        yield RawPost(
            place.parts[0], keys.get(names["topic"]) or UNKNOWN_TOPIC, "", text, day_of_file(file, settings), label
        )
    if counts:
        print(f"{path}: cut: {listed(counts)}", file=sys.stderr)


def day_of_file(file: TextFile, settings: ReaderSettings) -> str:
    """Return the date of a file's front matter, or else the first day that its name holds; "" for none."""
    name = settings.column_names(COLUMNS)["date"]
    return file.keys.get(name) or _day_in(file.place.stem, settings.date_format)


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
    """Return the text file at ``place`` in ``folder``, without quotations and code if it is Markdown or HTML."""
    text = _read(folder, place, settings)
    front = _FRONT_MATTER.match(text) or _TOML.match(text)
    keys: dict[str, str] = {}
    if front:
        keys = {key["name"]: key["value"].strip("\"'") for key in _KEY.finditer(front["keys"])}
        text = text[front.end() :]
    cuts: tuple[Cut, ...] = ()
    if place.suffix.lower() in _HTML:
        text, cuts = html_text(text)
    elif place.suffix.lower() in _MARKDOWN:
        cuts = tuple(Cut("code" if cut["fence"] else "quoted", cut[0]) for cut in _MARKDOWN_CUTS.finditer(text))
        text = _MARKDOWN_CUTS.sub("", text)
    return TextFile(place, text, keys, cuts)


def _read(folder: Path, place: Path, settings: ReaderSettings) -> str:
    label, most = printable(place.as_posix()), settings.maximum_field_characters
    encoding = known_encoding(settings.table_encoding)
    try:
        text = (folder / place).read_bytes().decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except OSError as error:
        raise UserError(f"{folder / place}: cannot be read ({error.strerror}); check the file") from None
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


def matches(files: Files) -> bool:
    """Whether there is a text file, in a folder or alone. Everything that is not another export may be one."""
    return not files.zipped and any(Path(name).suffix.lower() in SUFFIXES for name in files.names)


def items(files: Files, settings: ReaderSettings) -> Iterator[Item]:
    """Yield the texts of a folder, or one, in name order; drafts of the front matter are left out."""
    path = files.path
    alone = [text_file(path.parent, Path(path.name), settings)] if path.is_file() else None
    for place, text, keys, cuts in alone or text_files(path, settings):
        yield Item(
            keys.get("author", ""),
            tidy(text),
            moment_of(date_of(day_of(keys.get("date") or _day_in(place.stem, None)))),
            printable(place.as_posix()),
            cuts=cuts,
            left_out="draft" if keys.get("draft", "").lower() == "true" else "",
        )


EXPORT = Export("a folder of text files (.txt, .md, .html)", matches, items)
