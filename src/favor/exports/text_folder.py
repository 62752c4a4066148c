"""A folder with one folder per author, which holds one text file per post: AUTHOR/anything.txt, .md, .mdx or .html.

A post's date is that of its front matter, or of its file's name (2004-05-14 or 20040514, anywhere in it). Front matter
is YAML between lines "---", TOML between lines "+++" or a JSON object at the beginning. It is no part of the post, and
neither are quotations and code in Markdown and HTML. ``columns`` names its keys of date and topic where they differ.
As an export it is one person's, in folders or not, but for texts whose front matter names another author.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path, PurePath
from typing import NamedTuple

import yaml

from favor.corpora.dates import date_of, day_of
from favor.corpora.posts import UNKNOWN_TOPIC, RawPost, ReaderSettings
from favor.corpora.sources import decoded, known_encoding
from favor.exports.conversations import several_people
from favor.exports.files import Files
from favor.exports.items import Counts, Cut, Export, Item, moment_of, tidy
from favor.exports.markup import html_text
from favor.foundation.errors import UserError
from favor.foundation.names import printable

COLUMNS = {"date": "date", "topic": "topic"}
SUFFIXES = (".txt", ".md", ".markdown", ".mdx", ".html", ".htm")
_MARKDOWN, _HTML = (".md", ".markdown", ".mdx"), (".html", ".htm")
_FRONT_MATTER = re.compile(r"(?P<rule>---|\+\+\+)[ \t]*\n(?P<block>(?:[^\n]*\n)*?)(?:(?P=rule)|\.\.\.)[ \t]*(?:\n|\Z)")
# Pelican and MultiMarkdown write lines of a key and a value, and an empty line.
_FIELDS = re.compile(
    r"(?:(?:title|date|modified|authors?|slug|tags|category|summary|status|lang|layout):[ \t][^\n]*\n){2,}(?:\n|\Z)",
    re.IGNORECASE,
)
_MOST_FRONT_MATTER = 50_000  # characters
_HAS_KEYS = re.compile(r"\s*(?:#[^\n]*\n\s*)*[\"']?[\w.-]+[\"']?[ \t]*[:=](?:\s|\Z|[\"'])")
_BROKEN = (ValueError, RecursionError, yaml.YAMLError, TypeError, AttributeError)
# The licence of a book of Project Gutenberg stands before and behind it.
_GUTENBERG = re.compile(
    r"^\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG [^*]{1,300}\*{3}(?P<own>.*?)"
    r"(?:\Z|^(?:End of (?:the|this) Project Gutenberg[^\n]*\s+)?\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG )",
    re.DOTALL | re.MULTILINE,
)
# Components of MDX, and its lines of program, which end at a blank one.
_MDX = re.compile(r"^(?:import|export)\b[^\n]*(?:\n[^\n]+)*|</?[A-Z][\w.]*(?:\s[^<>]*)?>", re.MULTILINE)
# A quotation ends at a blank line, because its last lines need no mark.
_MARKDOWN_CUTS = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:(?! {0,3}(?P=fence))[^\n]*\n)*(?: {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|^ {0,3}>[^\n]*(?:\n[ \t]*[^\s][^\n]*)*",
    re.MULTILINE,
)
_ABOUT = re.compile(r"(?:read[ _-]?me|licen[cs]e|index|copying|about)\W?", re.IGNORECASE)  # says what a folder holds
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_DAY = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sign>[-_.]?)(?P<month>\d{2})(?P=sign)(?P<day>\d{2})(?!\d)")


class TextFile(NamedTuple):
    """A text file: its place in the folder, its text without front matter, the keys of that, and what was cut.

    ``authors``: those that the front matter names.
    """

    place: Path
    text: str
    keys: dict[str, str]
    authors: tuple[str, ...] = ()
    cuts: tuple[Cut, ...] = ()
    is_utf8: bool = True

    @property
    def left_out(self) -> str:
        """Why it is not one of an author's texts, "" where it is."""
        drafts = self.keys.get("draft", "").lower() in _YES or self.keys.get("published", "").lower() in _NO
        if drafts or self.keys.get("status", "").lower() == "draft" or "_drafts" in self.place.parts:
            return "draft"
        return "several authors" if len(self.authors) > 1 else ""


def read(path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
    """Yield the posts of every author, authors and files in name order.

    Raises ``UserError`` where ``path`` is not such a folder, or a file cannot be read as text in the encoding.
    """
    names = settings.column_names(COLUMNS)
    counts = Counts(path)
    for file in text_files(path, settings):
        place, text, keys = file.place, file.text, file.keys
        counts.see(_item(file))
        label = printable(place.as_posix())
        if len(place.parts) < 2:
            raise UserError(f"{path}: {label} is in no author's folder; move it into one, or remove it")
        topic = keys.get(names["topic"]) or UNKNOWN_TOPIC
        if not file.left_out:
            counts.posts += 1
            yield RawPost(place.parts[0], topic, "", text, day_of_file(file, settings), label)
    for item in _unread(Files(path).names):
        counts.see(item)
    counts.say()


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
    found = sorted((each.relative_to(path) for each in path.rglob("*")), key=lambda each: each.parts)
    found = [each for each in found if not any(part.startswith(".") for part in each.parts)]
    files = [each for each in found if (path / each).is_file()]
    if links := [each for each in found if (path / each).is_symlink() and not (path / each).is_file()]:
        why = "links lead to folders or to nothing and are not read; put what they lead to in their place; the first is"
        print(f"{path}: {len(links):,} {why} {printable(links[0].as_posix())}", file=sys.stderr)
    if any("data/js/tweets/" in file.as_posix() for file in files):
        raise UserError(
            f"{path}: is an archive of Twitter from before 2019 (data/js/tweets), which is not read; "
            "ask X for today's archive"
        )
    texts = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not texts:
        raise UserError(f"{path}: holds no text file ({', '.join(SUFFIXES)}); give a folder of text files per author")
    if len(files) > len(texts) and all(_ABOUT.fullmatch(file.stem) for file in texts):
        raise UserError(
            f"{path}: holds no text but {printable(texts[0].as_posix())}, so it is an export that is not read; "
            "export it again (docs/your-voice.md)"
        )
    if len(files) > len(texts):
        first = next(file for file in files if file.suffix.lower() not in SUFFIXES)
        left, shown = f"{len(files) - len(texts):,}", printable(first.as_posix())
        why = f"files are not read, because their names do not end in {', '.join(SUFFIXES)}; the first is {shown}"
        print(f"{path}: {left} {why}", file=sys.stderr)
    recoded = 0
    for place in texts:
        one = text_file(path, place, settings)
        recoded += not one.is_utf8
        yield one
    if recoded:
        said = f"{recoded:,} of {len(texts):,} files are not UTF-8 and are read as {settings.encoding}"
        print(f"{path}: {said}", file=sys.stderr)


def text_file(folder: Path, place: Path, settings: ReaderSettings) -> TextFile:
    """Return the text file at ``place`` in ``folder``, without quotations and code if it is Markdown or HTML."""
    whole, is_utf8 = _read(folder, place, settings)
    is_page = place.suffix.lower() in _HTML
    front, text = _front_matter(whole)
    cuts: tuple[Cut, ...] = ()
    if front is None:
        front, cuts = {}, (Cut("front matter that cannot be read", "front matter"),)
    if book := _GUTENBERG.search(text):
        cuts += (Cut("licence", text[: book.start("own")] + text[book.end("own") :]),)
        text = book["own"]
    keys = {str(key): _scalar(value) for key, value in front.items()}
    if is_page:
        text, found = html_text(text)
        cuts += found
    elif place.suffix.lower() in _MARKDOWN:
        cuts += tuple(Cut("code" if cut["fence"] else "quoted", cut[0]) for cut in _MARKDOWN_CUTS.finditer(text))
        text = _MARKDOWN_CUTS.sub("", text)
        if place.suffix.lower() == ".mdx":
            cuts += tuple(Cut("code", cut[0]) for cut in _MDX.finditer(text))
            text = _MDX.sub("", text)
    if what := several_people(*((text, whole) if is_page else (whole, ""))):
        raise UserError(f"{folder}: {printable(place.as_posix())} {what}")
    return TextFile(place, text, keys, _authors(front), cuts, is_utf8)


def _front_matter(text: str) -> tuple[dict[str, object] | None, str]:
    """Return the keys of a text's front matter and the rest; None for keys where the block cannot be parsed."""
    found = _FRONT_MATTER.match(text)
    try:
        if text.startswith("{"):
            keys, end = json.JSONDecoder().raw_decode(text)
            return (keys, text[end:].lstrip("\n")) if isinstance(keys, dict) else ({}, text)
        if fields := _FIELDS.match(text):
            pairs = (line.split(":", 1) for line in fields[0].strip().split("\n"))
            return {key.lower(): value.strip() for key, value in pairs}, text[fields.end() :]
        if not found:
            return {}, text
        if len(found["block"]) > _MOST_FRONT_MATTER:
            raise ValueError("too long")
        # Its values stay as they are written: a date is read as all dates are.
        keys = tomllib.loads(found["block"]) if found["rule"] == "+++" else yaml.load(found["block"], yaml.BaseLoader)
        return (keys or {}, text[found.end() :]) if isinstance(keys, dict | None) else ({}, text)
    except _BROKEN:
        # Prose between two rules has no key at its beginning.
        return (None, text[found.end() :]) if found and _HAS_KEYS.match(found["block"]) else ({}, text)


def _scalar(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return str(value).strip() if isinstance(value, str | bool | int | float) else ""


def _authors(front: dict[str, object]) -> tuple[str, ...]:
    """Return the authors that front matter names, in a text, a list, or maps with a name."""
    nested = [front, *(value for key in ("taxonomies", "params") if isinstance(value := front.get(key), dict))]
    named = next((keys[key] for keys in nested for key in ("author", "authors") if keys.get(key)), ())
    each = named if isinstance(named, list) else [named]
    names = [_scalar(one.get("name") or one.get("title") if isinstance(one, dict) else one) for one in each]
    return tuple(dict.fromkeys(filter(None, names)))


def _read(folder: Path, place: Path, settings: ReaderSettings) -> tuple[str, bool]:
    """Return a file's text, and whether it is UTF-8; if it is not, it is read in the encoding of the settings."""
    label, most = printable(place.as_posix()), settings.maximum_field_characters
    encoding = known_encoding(settings.table_encoding)
    try:
        content = (folder / place).read_bytes()
    except OSError as error:
        raise UserError(f"{folder / place}: cannot be read ({error.strerror}); check the file") from None
    is_utf8 = encoding == "utf-8" or _is_utf8(content)
    text = decoded(content, "utf-8" if is_utf8 else encoding, f"{folder}: {label}", settings.has_keys)
    if "\0" in text or len(text) > most:
        what = "holds a NUL" if "\0" in text else f"is longer than {most:,} characters"
        raise UserError(f"{folder}: {label} {what}, so it is not one post's text; remove it")
    return text.replace("\r\n", "\n").replace("\r", "\n"), is_utf8


def _is_utf8(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()  # UTF-16 of Latin letters is UTF-8 with a NUL behind each
    except UnicodeError:
        return False


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
    yield from map(_item, alone or text_files(path, settings))
    yield from _unread(files.names)


def _item(file: TextFile) -> Item:
    author, label = file.authors[0] if file.authors else "", printable(file.place.as_posix())
    written = file.keys.get("date") or _day_in(file.place.stem, None)
    moment = moment_of(date_of(day_of(written)) or written)
    return Item(author, tidy(file.text), moment, label, cuts=file.cuts, left_out=file.left_out)


def _unread(names: Iterable[str]) -> Iterator[Item]:
    for name in names:
        hidden = any(part.startswith(".") for part in PurePath(name).parts)
        if hidden or not name.lower().endswith(SUFFIXES):
            yield Item("", "", None, printable(name), left_out="hidden file" if hidden else "not a text file")


EXPORT = Export("a folder of text files (.txt, .md, .mdx, .html)", matches, items)
