"""Looks through every file that is to be published for what must not leave: texts, identifiers, handles, adapters.

A file is read whole or refused: kinds that cannot be searched (PDF, images, archives, tensors) are not for publication,
but for the pixels of a heat map within a drawing.
Findings name file and kind, and quote nothing.
"""

import base64
import hashlib
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
from favor.publish.decoding import decoded, holds_an_archive, is_an_archive, written_out
from favor.scores.tables import SCORES, SWEEP_SCORES
from favor.tables.cell_table import TABLE_CELLS
from favor.tables.escape import unlatex

PUBLISHABLE = (TABLE_CELLS, SCORES, SWEEP_SCORES, COMPARISONS, ADAPTER_ENERGY, COORDINATE_EFFECTS, PARTICIPATION)
TEXT_SUFFIXES = ("", ".cff", ".csv", ".html", ".json", ".lock", ".md", ".svg", ".tex", ".txt", ".yaml")
SHINGLE = 8  # consecutive words that count as a quotation
WORDS_IN_SHINGLE = 4  # different words with letters among them; runs of figures and repetitions are not a quotation
LETTERS = 20  # letters without spaces that a run must have to be looked for by its letters
SHORTEST_IDENTIFIER = 4  # characters; shorter ones occur by chance everywhere
SHORTEST_JOINED = 7  # characters of an identifier with letters that is found however it is parted
MOST_PARTS = 4  # parts that such an identifier may be in

_INVISIBLE = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
_NO_LETTER = regex.compile(r"\P{L}+")
# 0.1234 and 12,345 are numbers, not identifiers with a point; other commas are those of a list.
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+\.\d+(?!\.?\d|\.[a-z])|[^\W_]+")
_WORD_AND_NUMBER = re.compile(r"[^\W\d_]{2,}(\d{6,})|(\d{6,})[^\W\d_]{2,}")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIGITS = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
# Letters of other scripts that look like Latin ones, in lower case: identifiers and texts are compared without them.
_LOOKALIKES = str.maketrans("авекмнорстухіјѕԁһαβεζηικμνορτυχ", "abekmhopctyxijsdhabezhikmnoptyx")
_PICTURE = re.compile(r"data:image/png;base64,\s*((?:[A-Za-z0-9+/]{4}|\s)*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")
_AT_RULES = "charset|container|counter-style|font-face|import|keyframes|layer|media|namespace|page|property|supports"
_JSON_LD = "context|graph|json|language|type|vocab"
_HANDLES = {
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "a Reddit user name": re.compile(r"(?<!\w)/?[uU]/[A-Za-z0-9_-]{3,20}\b"),
    "a handle": re.compile(rf"(?<![\w@/\\])@(?!(?:{_AT_RULES}|{_JSON_LD})\b)[^\W\d_]\w{{2,}}"),
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
        for view in _deciphered([name]):
            found |= {Finding(name, f"{what} in the file's name") for what in _named(view, identifiers, private.places)}
            searched[name, view] = None
        views = _views(name, content)
        if isinstance(views, str):
            found.add(Finding(name, views))
            continue
        if any(map(holds_an_archive, views)):
            found.add(Finding(name, "an archive or another file in base64"))
        for view in _deciphered(views):
            searched[name, view] = None
            found |= {Finding(name, what) for what in _named(view, identifiers, private.places)}
            for run in _runs(view):
                owners.setdefault(hash(run), set()).add(name)
    letters = _Letters(searched)
    for whose, text in private.texts:
        names = letters.files(text).union(*(owners.get(hash(run), ()) for run in _runs(text)))
        found |= {Finding(name, f"{SHINGLE} consecutive words of {whose}") for name in names}
    return sorted(found, key=lambda finding: (finding.file, finding.what))


def _deciphered(views: Sequence[str]) -> list[str]:
    """Return texts with the other ways of writing in them undone, and again in what stood there as digits."""
    seen: dict[str, None] = {}
    for _ in range(2):
        views = list(itertools.chain.from_iterable((view, *written_out(view)) for view in views))
        seen |= dict.fromkeys(views)
        views = list(itertools.chain.from_iterable(map(decoded, views)))
    return list(seen | dict.fromkeys(views))


def unsearchable(authors: Sequence[str]) -> int:
    """Return how many identifiers are not searched for: the short, and those of punctuation, are everywhere."""
    return sum(len(author) < SHORTEST_IDENTIFIER or not (_tokens(author) or _signs(author)) for author in authors)


def _views(name: str, content: bytes) -> list[str] | str:
    """Return the texts of a file, raw and as a reader sees it; or why it is refused."""
    suffix = PurePosixPath(name).suffix
    if suffix == ".safetensors" or _is_safetensors(content):
        return "tensors (an adapter or a model)"
    if suffix == ".parquet":
        return _parquet_views(content)
    if suffix not in TEXT_SUFFIXES:
        return f"a file of a kind that cannot be searched ({suffix})"
    if is_an_archive(content):
        return "an archive or another file that cannot be searched"
    try:
        raw = content.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes that are not text"
    if "\0" in raw:
        return "bytes that are not text"
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
    """All strings of a structured file, as its reader gets them, and its values alone; None where it cannot be read."""
    found: list[str] = []
    names: list[str] = []
    try:
        waiting = list(load(raw))[::-1]
    except (ValueError, RecursionError, yaml.YAMLError):
        return None
    read: dict[int, Any] = {}  # a YAML alias may stand in many places, and hold itself
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping | list):
            if id(value) in read:
                continue
            read[id(value)] = value
        if isinstance(value, Mapping):
            names += map(str, value)
            waiting += reversed(list(value.values()))
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, str):
            found.append(value)
    return ["\n".join(part) for part in (names, found) if part]


def _plain(text: str) -> str:
    """Text as it is compared: one encoding of accents, widths, digits and look-alikes, one case, nothing invisible."""
    seen = _INVISIBLE.sub("", text)
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    if plain.isascii():
        return plain
    return re.sub(r"\d", lambda found: str(unicodedata.digit(found[0])), plain).translate(_LOOKALIKES)


def _tokens(text: str) -> list[str]:
    """Words as identifiers are compared: an underscore parts them, and a whole number may end in .0."""
    return [re.sub(r"\.0+$", "", token) for token in _TOKEN.findall(_plain(text))]


def _signs(author: str) -> str:
    """An identifier without a letter or figure as it is compared, if it says more than punctuation: emoji."""
    plain = _plain(author)
    return "" if plain.isascii() or _tokens(author) else plain


@dataclass(frozen=True)
class _Identifiers:
    """What identifies the authors: sequences of words by their first word, words run together, and both as digits.

    ``signs`` are those without a word.
    """

    sequences: Mapping[str, set[tuple[str, ...]]]
    joined: frozenset[str]
    digits: frozenset[str]
    signs: frozenset[str]


def _identifiers(authors: Iterable[str], exempt: Sequence[str]) -> _Identifiers:
    spared = {_plain(word) for word in exempt}
    sequences: dict[str, set[tuple[str, ...]]] = {}
    joined, digits, signs = set(), set(), set()
    for author in authors:
        words = tuple(_tokens(author))
        if len(author) >= SHORTEST_IDENTIFIER and _signs(author) and _plain(author) not in spared:
            signs.add(_signs(author))
            digits |= _as_digits(author)
        if words and len(author) >= SHORTEST_IDENTIFIER and _plain(author) not in spared:
            sequences.setdefault(words[0], set()).add(words)
            whole = "".join(words)
            # Numbers that stand beside one another are an identifier by chance too often.
            if len(whole) >= SHORTEST_JOINED and not whole.isdigit():
                joined.add(whole)
            digits |= _as_digits(author)
    return _Identifiers(sequences, frozenset(joined), frozenset(digits), frozenset(signs))


def _as_digits(author: str) -> set[str]:
    """Return an identifier in hexadecimal and base64, and its digests, which whoever knows the identifier can make."""
    content = author.encode()
    encoded = {base64.b64encode(content).decode(), base64.urlsafe_b64encode(content).decode(), content.hex()}
    digests = {hashlib.new(kind, content).hexdigest() for kind in ("md5", "sha1", "sha256")}
    return {each for each in encoded | {text.rstrip("=") for text in encoded} if len(each) >= SHORTEST_JOINED} | digests


def _named(text: str, identifiers: _Identifiers, places: Sequence[str]) -> Iterator[str]:
    words = _tokens(text)
    if _has_identifier(text, words, identifiers):
        yield "an author's identifier"
    seen = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    for kind, pattern in _HANDLES.items():
        if pattern.search(seen):
            yield kind
    if any(place in text for place in places) or any(pattern.search(text) for pattern in _PLACES):
        yield "a folder of a machine"


def _has_identifier(text: str, words: Sequence[str], identifiers: _Identifiers) -> bool:
    for position, word in enumerate(words):
        for sequence in identifiers.sequences.get(word, ()):
            if tuple(words[position : position + len(sequence)]) == sequence:
                return True
        glued = _WORD_AND_NUMBER.fullmatch(word)
        if glued and (glued[1] or glued[2],) in identifiers.sequences.get(glued[1] or glued[2], ()):
            return True
    if identifiers.signs:
        plain = _plain(text)
        if any(sign in plain for sign in identifiers.signs):
            return True
    if identifiers.joined:
        parts = _tokens(_CAMEL_CASE.sub(" ", text))
        for position in range(len(parts)):
            whole = ""
            for part in parts[position : position + MOST_PARTS]:
                whole += part
                if whole in identifiers.joined:
                    return True
    digits = (found[0] for found in _DIGITS.finditer(text))
    return any(each in identifiers.digits or each.lower() in identifiers.digits for each in digits)


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
