"""What a word is, in any script: to count, cut and compare texts by."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import regex  # type: ignore[import-untyped]

# Scripts that put no spaces between words.
UNSPACED = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
_UNSPACED = "".join(rf"\p{{Script={name}}}" for name in UNSPACED)
_APOSTROPHES = regex.compile("['’‘`ʼ＇]")
_UNSPACED_SIGN = regex.compile(f"[{_UNSPACED}]")
_COMPARED = regex.compile(rf"(?V1)[{_UNSPACED}]\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+")
# The same sign by sign, many times as fast.
_ASCII_WORDS = {code: chr(code) if chr(code).isalnum() else None if chr(code) in "'`" else " " for code in range(128)}

_PATTERNS: dict[str, re.Pattern[str]] = {
    "latin": re.compile("[A-Za-z]+(?:'[A-Za-z]+)*"),
    "white_space": re.compile(r"\S+"),
    # Joiners of zero width stand within words of Persian and of Indian scripts.
    "unicode": regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’\u200c\u200d]+[\p{L}\p{M}]+)*"),
    "characters": regex.compile(r"\p{L}\p{M}*"),
}


class _ComparedSigns(dict[int, str | None]):
    """What stays of a character in compared words; NUL for one of a script without spaces."""

    def __missing__(self, code: int) -> str | None:
        sign = chr(code)
        if _APOSTROPHES.match(sign):
            self[code] = None
        else:
            self[code] = "\0" if _UNSPACED_SIGN.match(sign) else sign if _COMPARED.match(sign) else " "
        return self[code]


_COMPARED_SIGNS = _ComparedSigns(_ASCII_WORDS)


@dataclass(frozen=True)
class Words:
    """One way to find the words of a text. ``spans`` yields the (start, end) of each, in order."""

    spans: Callable[[str], Iterator[tuple[int, int]]]

    def split(self, text: str) -> list[str]:
        """Return the words of ``text``."""
        return [text[start:end] for start, end in self.spans(text)]

    def count(self, text: str) -> int:
        """Return the number of words of ``text``."""
        return sum(1 for _ in self.spans(text))

    def cut(self, text: str, words: int) -> str:
        """Return the start of ``text`` up to the end of its ``words``-th word; all of it where it has fewer."""
        if words <= 0:
            return ""
        for number, (_, end) in enumerate(self.spans(text), start=1):
            if number == words:
                return text[:end]
        return text


@dataclass(frozen=True)
class _Matches(Words):
    """Words by a pattern without groups."""

    pattern: Any

    def split(self, text: str) -> list[str]:
        found: list[str] = self.pattern.findall(text)
        return found

    def count(self, text: str) -> int:
        return len(self.pattern.findall(text))


def document_words(kind: str) -> Words:
    """Return how the words of a corpus's documents are counted, by the corpus's key ``words``.

    "paper": runs of the letters A to Z with inner apostrophes, as in the authors' code. "unicode": letters of any
    script with their marks, and inner apostrophes, straight or curly. "segmented": by ICU, which has dictionaries of
    languages without spaces. "characters": letters, with their marks. Figures and punctuation are not words.
    """
    return _words("latin" if kind == "paper" else kind)


def output_words(kind: str) -> Words:
    """Return how the words of continuations and excerpts are counted, by the corpus's key ``words``.

    "paper": what white space separates, as the paper says. Otherwise as :func:`document_words`.
    """
    return _words("white_space" if kind == "paper" else kind)


@cache
def _words(kind: str) -> Words:
    if kind == "segmented":
        return Words(_segments)
    pattern = _PATTERNS[kind]
    return _Matches(lambda text: (match.span() for match in pattern.finditer(text)), pattern)


def _segments(text: str) -> Iterator[tuple[int, int]]:
    # Here, because most corpora do without it.
    from icu4py.breakers import WordBreaker

    start = 0
    # A lone surrogate has no UTF-8 form.
    for segment in WordBreaker(text.encode("utf-8", "replace").decode(), "en"):
        if any(map(str.isalpha, segment)):
            yield start, start + len(segment)
        start += len(segment)


def compared_words(text: str) -> list[str]:
    """Return the words by which two texts are compared: letter case, accents' encoding and punctuation do not count.

    Apostrophes join. In scripts without spaces every character is one.
    """
    return compared_text(text).split()


def compared_text(text: str) -> str:
    """Return the words of :func:`compared_words` with spaces between them, of which there may be more than one."""
    if text.isascii():
        return text.lower().translate(_ASCII_WORDS)
    plain = unicodedata.normalize("NFKC", text).casefold()
    signs = plain.translate(_COMPARED_SIGNS)
    return " ".join(_COMPARED.findall(_APOSTROPHES.sub("", plain))) if "\0" in signs else signs


def compared_spans(text: str, most: int | None = None) -> list[tuple[str, int, int]]:
    """Return the words of :func:`compared_words` of ``text``, the first ``most``, each with its start and end there.

    They are found piece by piece between white space, where the normal form moves the places of letters.
    """
    pieces = _PATTERNS["white_space"].finditer(text)
    return list(islice(((word, *piece.span()) for piece in pieces for word in _words_of_piece(piece[0])), most))


@lru_cache(maxsize=100_000)
def _words_of_piece(piece: str) -> tuple[str, ...]:
    return tuple(compared_words(piece))
