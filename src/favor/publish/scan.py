"""Looks through every file that is to be published for what must not leave: texts, identifiers, handles, folders.

Only kinds that this workflow writes may leave: text files, and Parquet tables with the columns of one in
``PUBLISHABLE``. They are searched as they are and as a reader sees them: without the markup of HTML and LaTeX, JSON and
YAML by their strings. Findings name file and kind, and quote nothing.
"""

import base64
import html
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import regex  # type: ignore[import-untyped]
import yaml

from favor.analysis.schemas import ADAPTER_ENERGY, COMPARISONS, COORDINATE_EFFECTS, PARTICIPATION
from favor.foundation.words import compared_words
from favor.scores.schemas import SCORES, SWEEP_SCORES
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.escape import unlatex

PUBLISHABLE = (TABLE_CELLS, SCORES, SWEEP_SCORES, COMPARISONS, ADAPTER_ENERGY, COORDINATE_EFFECTS, PARTICIPATION)
TEXT_SUFFIXES = ("", ".cff", ".csv", ".html", ".json", ".lock", ".md", ".svg", ".tex", ".txt", ".yaml")
SHINGLE = 8  # consecutive words that count as a quotation
WORDS_IN_SHINGLE = 4  # different words with letters among them; runs of figures and repetitions are not a quotation
SHORTEST_IDENTIFIER = 4  # characters; shorter ones occur by chance everywhere

_INVISIBLE = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
# 0.1234 and 12,345 are numbers, not identifiers with a point; other commas are those of a list.
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+\.\d+(?!\.?\d|\.[a-z])|[^\W_]+")
_WORD_AND_NUMBER = re.compile(r"[^\W\d_]{2,}(\d{6,})|(\d{6,})[^\W\d_]{2,}")
_PICTURE = re.compile(r"data:image/png;base64,\s*((?:[A-Za-z0-9+/]{4}|\s)*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")
_JSON_LD = "context|graph|json|language|type|vocab"
_HANDLES = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "a Reddit user name": re.compile(r"(?<!\w)/?[uU]/[A-Za-z0-9_-]{3,20}\b"),
    "a handle": re.compile(rf"(?<![\w@/\\])@(?!(?:{_JSON_LD})\b)[^\W\d_]\w{{2,}}"),
}

# Folders by their form: of two parts at least, so that fractions and end tags are none; two letters a part, so that a
# regular expression of JavaScript is none.
_PLACES = (
    re.compile(r"(?<![\w:/.<>*)\]}~+-])/(?!/)[\w.+-]{2,}/[\w.+-]{2,}"),
    re.compile(r"(?<=\w):/(?!/)[\w.+-]{2,}/[\w.+-]{2,}"),  # of another machine: host:/export/you
    re.compile(r":/(?:home|Users|root|mnt|media|data|scratch|srv|tmp|var|opt)/[\w.+-]{2,}"),
    re.compile(r"\b(?:s3|gs|abfss?|hdfs|sftp|ssh|smb|nfs)://[\w.-]+"),
    re.compile(r"(?<![\w~}])~[\w.-]*/[\w.-]+"),
    re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:[\\/]{1,2}[\w .-]+[\\/]{1,2}[\w.-]+"),
    re.compile(r"file:/+[\w.~%-]"),
    re.compile(r"(?<!\\)\\\\[\w.-]{2,}\\[\w.$-]{2,}"),
)


class Finding(NamedTuple):
    """What was found where: a path inside the bundle, and a kind of thing that must not be published."""

    file: str
    what: str


@dataclass(frozen=True)
class Private:
    """What must not be found.

    ``authors``: identifiers of the corpora. ``texts``: (whose, text) of clients and generated for them.
    ``places``: folders of this machine. ``exempt``: words that equal an identifier by chance, such as a count.
    """

    authors: Sequence[str]
    texts: Iterable[tuple[str, str]]
    places: Sequence[str] = ()
    exempt: Sequence[str] = ()


def scan(files: Mapping[str, bytes], private: Private) -> list[Finding]:
    """Return everything found in ``files`` (content by path inside the bundle), sorted."""
    found: set[Finding] = set()
    owners: dict[int, set[str]] = {}
    identifiers = _identifiers(private.authors, private.exempt)
    for name, content in files.items():
        found |= {Finding(name, f"{what} in the file's name") for what in _named(name, identifiers, private.places)}
        views = _views(name, content)
        if isinstance(views, str):
            found.add(Finding(name, views))
            views = []
        for view in [name, *views]:
            for run in _runs(view):
                owners.setdefault(hash(run), set()).add(name)
        for view in views:
            found |= {Finding(name, what) for what in _named(view, identifiers, private.places)}
    for whose, text in private.texts:
        for name in set().union(*(owners.get(hash(run), ()) for run in _runs(text))):
            found.add(Finding(name, f"{SHINGLE} consecutive words of {whose}"))
    return sorted(found)


def unsearchable(authors: Sequence[str]) -> int:
    """Return how many identifiers are not searched for: the short, and those of punctuation, are everywhere."""
    return sum(len(author) < SHORTEST_IDENTIFIER or not (_tokens(author) or _signs(author)) for author in authors)


def _views(name: str, content: bytes) -> list[str] | str:
    """Return the texts of a file, raw and as a reader sees it; or why it is refused."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".parquet":
        return _parquet_views(content)
    if suffix not in TEXT_SUFFIXES:
        return f"a file of a kind that cannot be searched ({suffix})"
    try:
        raw = content.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are not text"
    if "\0" in raw:
        return "bytes that are not text"
    raw = _PICTURE.sub(lambda match: "" if _is_plain_png(base64.b64decode(match[1])) else match[0], raw)
    if ";base64," in raw:
        return "an embedded file that cannot be searched"
    if suffix in (".html", ".svg"):
        raw = re.sub(r"<style\b.*?</style>", " ", raw, flags=re.DOTALL)  # whose @media is not a handle
    views = [raw]
    if suffix in (".json", ".yaml", ".cff"):
        try:
            views += _strings(list(yaml.safe_load_all(raw)) if suffix != ".json" else _load_json(raw))
        except (ValueError, RecursionError, yaml.YAMLError):
            return f"{suffix} that cannot be read"
    return [shown for view in views for shown in _shown(view)]


def _shown(text: str) -> Iterator[str]:
    """Yield a text, and without the markup of HTML and of LaTeX where it may have some."""
    yield text
    if "<" in text or "&" in text:
        yield html.unescape(text)
        yield html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<!--|-->", " ", text)))
    if "\\" in text:
        # @{...} sets the space between columns.
        yield re.sub(r"[{}]|\\-?", "", re.sub(r"\\[A-Za-z]+\*?|@\{[^}]*\}", " ", unlatex(text)))


def _load_json(raw: str) -> list[Any]:
    """Return the values of a JSON file: its one, or one for each line."""
    try:
        return [json.loads(raw)]
    except ValueError:
        return [json.loads(line) for line in raw.splitlines() if line.strip()]


def _is_plain_png(content: bytes) -> bool:
    """Whether this is a PNG of pixels alone: no text chunk, nothing behind its end."""
    position, chunks = 8, []
    while position + 12 <= len(content):
        chunks.append(content[position + 4 : position + 8])
        position += 12 + int.from_bytes(content[position : position + 4], "big")
    pixels = {b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"IDAT", b"IEND"}
    whole = content[:8] == b"\x89PNG\r\n\x1a\n" and position == len(content) and chunks[-1:] == [b"IEND"]
    return whole and set(chunks) <= pixels


def _parquet_views(content: bytes) -> list[str] | str:
    try:
        found = pq.read_table(io.BytesIO(content))
        remarks = pq.read_metadata(io.BytesIO(content)).metadata
    except (pa.ArrowInvalid, OSError):
        return "a Parquet file that cannot be read"
    if found.schema.remove_metadata() not in {table.schema.remove_metadata() for table in PUBLISHABLE}:
        names = ", ".join(table.name for table in PUBLISHABLE)
        return f"a Parquet table that is not for publication (those are {names})"
    if remarks:
        return "a Parquet file with metadata, which no table here has"
    texts = [column for column in found.columns if pa.types.is_string(column.type)]
    return ["\n".join(str(value) for column in texts for value in column.to_pylist())]


def _strings(value: Any) -> list[str]:
    """Return the names and the strings in what a JSON or YAML reader gets, each as one text."""
    names: list[str] = []
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, Mapping):
            names.extend(map(str, value))
            collect(list(value.values()))
        elif isinstance(value, list):
            for item in value:
                collect(item)
        elif isinstance(value, str):
            found.append(value)

    collect(value)
    return ["\n".join(part) for part in (names, found)]


def _plain(text: str) -> str:
    """Text as it is compared: one encoding of accents, widths and digits, one case, nothing invisible."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold())
    return plain if plain.isascii() else re.sub(r"\d", lambda found: str(unicodedata.digit(found[0])), plain)


def _tokens(text: str) -> list[str]:
    """Words as identifiers are compared: an underscore parts them, and a whole number may end in .0."""
    return [re.sub(r"\.0+$", "", token) for token in _TOKEN.findall(_plain(text))]


def _signs(author: str) -> str:
    """An identifier without a letter or figure as it is compared, if it says more than punctuation: emoji."""
    plain = _plain(author)
    return "" if plain.isascii() or _tokens(author) else plain


def _identifiers(authors: Iterable[str], exempt: Sequence[str]) -> tuple[dict[str, set[tuple[str, ...]]], set[str]]:
    """Return the authors' identifiers: sequences of words by their first word, and those without a word."""
    spared = {_plain(word) for word in exempt}
    sequences: dict[str, set[tuple[str, ...]]] = {}
    signs = set()
    for author in authors:
        if len(author) < SHORTEST_IDENTIFIER or _plain(author) in spared:
            continue
        if words := tuple(_tokens(author)):
            sequences.setdefault(words[0], set()).add(words)
        elif sign := _signs(author):
            signs.add(sign)
    return sequences, signs


def _named(
    text: str, identifiers: tuple[dict[str, set[tuple[str, ...]]], set[str]], places: Sequence[str]
) -> Iterator[str]:
    if _has_identifier(text, *identifiers):
        yield "an author's identifier"
    seen = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    for kind, pattern in _HANDLES.items():
        if pattern.search(seen):
            yield kind
    if any(place in text for place in places) or any(pattern.search(text) for pattern in _PLACES):
        yield "a folder of a machine"


def _has_identifier(text: str, sequences: Mapping[str, set[tuple[str, ...]]], signs: set[str]) -> bool:
    words = _tokens(text)
    for position, word in enumerate(words):
        for sequence in sequences.get(word, ()):
            if tuple(words[position : position + len(sequence)]) == sequence:
                return True
        glued = _WORD_AND_NUMBER.fullmatch(word)
        if glued and (glued[1] or glued[2],) in sequences.get(glued[1] or glued[2], ()):
            return True
    plain = _plain(text) if signs else ""
    return any(sign in plain for sign in signs)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """The runs of ``SHINGLE`` words (characters, in scripts without spaces) as they are compared."""
    words = compared_words(_INVISIBLE.sub("", text))
    for start in range(len(words) - SHINGLE + 1):
        run = tuple(words[start : start + SHINGLE])
        if sum(not word.isdigit() for word in set(run)) >= WORDS_IN_SHINGLE:
            yield run
