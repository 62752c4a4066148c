"""Looks through every file that is to be published for what must not leave: texts, identifiers, handles, adapters.

A file is read whole or refused: kinds that cannot be searched (PDF, images, archives, tensors) are not for publication,
but for the pixels of a heat map within a drawing.
Findings name file and kind, and quote nothing.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import regex  # type: ignore[import-untyped]
import yaml

from favor.analysis.tables import ADAPTER_ENERGY, COMPARISONS, COORDINATE_EFFECTS, PARTICIPATION
from favor.foundation.words import compared_words
from favor.report.bundle_decoding import decoded, holds_an_archive, written_out
from favor.report.cell_table import TABLE_CELLS
from favor.report.escape import unlatex
from favor.scores.tables import SCORES, SWEEP_SCORES

PUBLISHABLE = (TABLE_CELLS, SCORES, SWEEP_SCORES, COMPARISONS, ADAPTER_ENERGY, COORDINATE_EFFECTS, PARTICIPATION)
TEXT_SUFFIXES = ("", ".cff", ".csv", ".html", ".json", ".lock", ".md", ".svg", ".tex", ".txt", ".yaml")
SHINGLE = 8  # consecutive words that count as a quotation
WORDS_IN_SHINGLE = 4  # different words with letters among them; runs of figures and repetitions are not a quotation
LETTERS = 20  # letters without spaces that a run must have to be looked for by its letters
SHORTEST_IDENTIFIER = 4  # characters; shorter ones occur by chance everywhere

_INVISIBLE = regex.compile(r"\p{Cf}+")
_NO_LETTER = regex.compile(r"\P{L}+")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")  # 0.1234 and 12,345 are numbers, not identifiers with a point
_PICTURE = re.compile(r"data:image/png;base64,\s*((?:[A-Za-z0-9+/]{4}|\s)*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")
_AT_RULES = "charset|container|counter-style|font-face|import|keyframes|layer|media|namespace|page|property|supports"
_JSON_LD = "context|graph|json|language|type|vocab"
_HANDLES = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "a Reddit user name": re.compile(r"(?<!\w)/?u/[A-Za-z0-9_-]{3,20}\b"),
    "a handle": re.compile(rf"(?<![\w@/.\\])@(?!(?:{_AT_RULES}|{_JSON_LD})\b)[A-Za-z]\w{{2,}}"),
}

# Folders by their form: of two parts at least, so that fractions and end tags are none; two letters a part, so that a
# regular expression of JavaScript is none.
_PLACES = (
    re.compile(r"(?<![\w:/.<>*)\]}~+-])/(?!/)[\w.+-]{2,}/[\w.+-]{2,}"),
    re.compile(r"(?<![\w~}])~[\w.-]*/[\w.-]+"),
    re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:[\\/]{1,2}[\w .-]+[\\/]{1,2}[\w.-]+"),
    re.compile(r"file:/+[\w.~%-]"),
    re.compile(r"(?<!\\)\\\\[\w.-]{2,}\\[\w.$-]{2,}"),
)


@dataclass(frozen=True)
class Finding:
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
    searched: dict[tuple[str, str], None] = {}
    identifiers = _identifiers(private.authors, private.exempt)
    for name, content in files.items():
        found |= {Finding(name, f"{what} in the file's name") for what in _named(name, identifiers, private.places)}
        views = _views(name, content)
        if isinstance(views, str):
            found.add(Finding(name, views))
            continue
        if any(map(holds_an_archive, views)):
            found.add(Finding(name, "an archive or another file in base64"))
        views = list(itertools.chain.from_iterable((view, *written_out(view)) for view in views))
        views += itertools.chain.from_iterable(map(decoded, views))
        searched |= dict.fromkeys((name, view) for view in views)
        for view in dict.fromkeys(views):
            found |= {Finding(name, what) for what in _named(view, identifiers, private.places)}
            for run in _runs(view):
                owners.setdefault(hash(run), set()).add(name)
    letters = _Letters(searched)
    for whose, text in private.texts:
        names = letters.files(text).union(*(owners.get(hash(run), ()) for run in _runs(text)))
        found |= {Finding(name, f"{SHINGLE} consecutive words of {whose}") for name in names}
    return sorted(found, key=lambda finding: (finding.file, finding.what))


def unsearchable(authors: Sequence[str]) -> int:
    """Return how many identifiers are too short to be searched for."""
    return sum(len(author) < SHORTEST_IDENTIFIER for author in authors)


def _views(name: str, content: bytes) -> list[str] | str:
    """Return the texts of a file, raw and as a reader sees it; or why it is refused."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".safetensors" or _is_safetensors(content):
        return "tensors (an adapter or a model)"
    if suffix == ".parquet":
        return _parquet_views(content)
    if suffix not in TEXT_SUFFIXES:
        return f"a file of a kind that cannot be searched ({suffix})"
    try:
        raw = content.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are no text"
    raw, embedded = _without_pictures(raw)
    if embedded:
        return "an embedded file that cannot be searched"
    if suffix in (".html", ".svg"):
        shown = re.sub(r"<!--|-->", " ", raw)
        return [raw, html.unescape(re.sub(r"<[^>]*>", " ", shown)), html.unescape(raw)]
    if suffix == ".tex":
        # @{...} sets the space between columns.
        characters = unlatex(raw)
        shown = re.sub(r"\\[A-Za-z]+\*?|@\{[^}]*\}", " ", characters)
        return [raw, characters, re.sub(r"[{}\\]", "", shown)]
    if suffix in (".json", ".yaml", ".cff"):
        strings = _strings(raw, _load_json if suffix == ".json" else yaml.safe_load_all)
        return f"{suffix} that cannot be read" if strings is None else [raw, *strings]
    return [raw]


def _load_json(raw: str) -> list[Any]:
    """Return the values of a JSON file: its one, or one for each line."""
    try:
        return [json.loads(raw)]
    except ValueError:
        return [json.loads(line) for line in raw.splitlines() if line.strip()]


def _without_pictures(text: str) -> tuple[str, bool]:
    """Return ``text`` without its embedded pictures of pixels alone (heat maps), and whether another file remains."""
    text = _PICTURE.sub(lambda match: "" if _is_plain_png(match[1]) else match[0], text)
    return text, ";base64," in text


def _is_plain_png(encoded: str) -> bool:
    """Whether this is a PNG of pixels alone: no text chunk, nothing behind its end."""
    content = base64.b64decode(encoded)
    position, chunks = 8, []
    while position + 12 <= len(content):
        chunks.append(content[position + 4 : position + 8])
        position += 12 + int.from_bytes(content[position : position + 4], "big")
    pixels = {b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"IDAT", b"IEND"}
    whole = content[:8] == b"\x89PNG\r\n\x1a\n" and position == len(content) and chunks[-1:] == [b"IEND"]
    return whole and set(chunks) <= pixels


def _is_safetensors(content: bytes) -> bool:
    return len(content) > 9 and 0 < int.from_bytes(content[:8], "little") < 1 << 32 and content[8:9] == b"{"


def _parquet_views(content: bytes) -> list[str] | str:
    try:
        found = pq.read_table(io.BytesIO(content))
        remarks = pq.read_metadata(io.BytesIO(content)).metadata
    except (pa.ArrowInvalid, OSError):
        return "a Parquet file that cannot be read"
    schemas = {table.schema.remove_metadata() for table in PUBLISHABLE}
    if found.schema.remove_metadata() not in schemas:
        return (
            f"a Parquet table that is not for publication (those are {', '.join(table.name for table in PUBLISHABLE)})"
        )
    if remarks:
        return "a Parquet file with metadata, which no table here has"
    texts = [column for column in found.columns if pa.types.is_string(column.type)]
    return ["\n".join(str(value) for column in texts for value in column.to_pylist())]


def _strings(raw: str, load: Callable[[str], Iterable[Any]]) -> list[str] | None:
    """All strings of a structured file, as its reader gets them; None where it cannot be read."""
    found: list[str] = []
    try:
        waiting = list(load(raw))
    except (ValueError, yaml.YAMLError):
        return None
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            found.append(value)
    return ["\n".join(found)] if found else []


def _plain(text: str) -> str:
    """Text as it is compared: one encoding of accents and widths, one letter case, nothing invisible."""
    seen = _INVISIBLE.sub("", text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


def _tokens(text: str) -> list[str]:
    """Words as identifiers are compared: an underscore parts them, and a whole number may end in .0."""
    return [re.sub(r"\.0+$", "", token) for token in _TOKEN.findall(_plain(text))]


def _identifiers(authors: Iterable[str], exempt: Sequence[str]) -> dict[str, set[tuple[str, ...]]]:
    """Identifiers as word sequences, by their first word."""
    spared = {_plain(word) for word in exempt}
    found: dict[str, set[tuple[str, ...]]] = {}
    for author in authors:
        words = tuple(_tokens(author))
        if words and len(author) >= SHORTEST_IDENTIFIER and _plain(author) not in spared:
            found.setdefault(words[0], set()).add(words)
    return found


def _named(text: str, identifiers: Mapping[str, set[tuple[str, ...]]], places: Sequence[str]) -> Iterator[str]:
    words = _tokens(text)
    for position, word in enumerate(words):
        for sequence in identifiers.get(word, ()):
            if tuple(words[position : position + len(sequence)]) == sequence:
                yield "an author's identifier"
    for kind, pattern in _HANDLES.items():
        if pattern.search(text):
            yield kind
    if any(place in text for place in places) or any(pattern.search(text) for pattern in _PLACES):
        yield "a folder of a machine"


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """The runs of ``SHINGLE`` words (characters, in scripts without spaces) as they are compared."""
    words = compared_words(text)
    for start in range(len(words) - SHINGLE + 1):
        run = tuple(words[start : start + SHINGLE])
        if sum(not word.isdigit() for word in set(run)) >= WORDS_IN_SHINGLE:
            yield run


class _Letters:
    """The letters alone of texts to be searched, in order, found by hashes of all their runs of ``LETTERS``.

    Spaces, hyphens, numbers and invisible characters are gone, so words that are hyphenated, numbered, spaced out or
    run together are compared like any others.
    """

    def __init__(self, views: Iterable[tuple[str, str]]) -> None:
        """Take (file, text) pairs."""
        self._streams = [(name, _only_letters(_plain(view))) for name, view in views]
        hashes = [np.unique(_rolling(letters)) for _, letters in self._streams]
        self._hashes = np.unique(np.concatenate([*hashes, np.zeros(0, np.uint64)]))

    def files(self, text: str) -> set[str]:
        """Return the files with a run of ``SHINGLE`` words of ``text``, by its letters.

        Runs of fewer than ``LETTERS`` letters are left to the search by whole words.
        """
        words = list(map(_only_letters, compared_words(text)))
        starts = np.cumsum([0, *map(len, words)])
        letters = "".join(words)
        hashes = _rolling(letters)
        if not len(hashes) or not len(self._hashes):
            return set()
        known = self._hashes[np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)] == hashes
        first = range(len(words) - SHINGLE + 1)
        runs = [
            letters[starts[each] : starts[each + SHINGLE]]
            for each in first
            if starts[each + SHINGLE] - starts[each] >= LETTERS
            and known[starts[each]]
            and len(set(words[each : each + SHINGLE])) >= WORDS_IN_SHINGLE
        ]
        return {name for name, stream in self._streams if any(run in stream for run in runs)} if runs else set()


def _only_letters(text: str) -> str:
    return _NO_LETTER.sub("", text)


def _rolling(letters: str) -> np.ndarray:
    """Polynomial hashes (modulo 2^64) of every run of ``LETTERS`` characters."""
    codes = np.frombuffer(letters.encode("utf-32-le"), np.uint32).astype(np.uint64)
    count = max(len(codes) - LETTERS + 1, 0)
    hashes = np.zeros(count, np.uint64)
    for start in range(LETTERS):
        hashes = hashes * np.uint64(1_000_003) + codes[start : start + count]
    return hashes
