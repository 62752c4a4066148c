"""Signs that a corpus is not what it should be. Nothing is dropped for them: each is one line.

The log of ``build_documents`` names the first post or author of each; the page of ``check`` counts them and names none.
"""

import re
import unicodedata
from collections.abc import Iterable

# "é" and "’" as they look where UTF-8 was read as cp1252.
_MISREAD = re.compile("[ÂÃ][\xa1-\xbf]|â€[˜™œžš“”¦¢]")
# Cyrillic, Greek or Chinese read as Latin-1: no language has so many of its letters in a row.
_OTHER = re.compile(r"(?!(.)\1\1)[\xc0-\xd6\xd8-\xf6\xf8-\xff]{6}")
_TAG = re.compile(r"</?(?:a|b|br|div|em|font|i|img|li|p|span|strong|table|td|tr|u|ul)\b[^<>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{2,5}|#x[0-9a-f]{2,4});", re.IGNORECASE)
_ESCAPED = re.compile(r"\S\\r?\\?n")  # a path or a formula has a space before its backslash
_MISSING = frozenset(("nan", "null", "none", "n/a", "na", "<na>", "undefined"))
_NOBODY = _MISSING | {"[deleted]", "deleted", "anonymous", "anon", "unknown", "guest", "automoderator", "-", "?"}
_LONGEST_MISSING = max(map(len, _MISSING))
_ROUNDED = re.compile(r"\d\.\d+E\+\d+", re.IGNORECASE)
_REDDIT = re.compile("^/?u/")


_MEANINGS = {
    "misread": "look like UTF-8 that was read as cp1252 ('Ã©' for 'é'); make the file again from its source",
    "other": "hold letters such as 'Ïðèâåò', as another encoding read as Latin-1 gives; set 'encoding' to the file's",
    "replaced": "hold the character U+FFFD, where bytes were lost; make the file again from its source",
    "tagged": "hold HTML tags, which stay in the text; remove them if they are not the author's",
    "entities": "still hold entities, such as '&quot;', once they are resolved; resolve those of the source once more",
    "escaped": "hold '\\n' as two characters; write line breaks in their place where the source had them",
    "nul": "hold NUL characters, which become spaces; make the file again from its source",
    "missing": "are a word for a missing value, such as 'nan'; list it under 'excluded_texts' if it is one",
}


class Suspicions:
    """Counts posts as they are cleaned, and names the first of each kind."""

    def __init__(self) -> None:
        self._posts: dict[str, tuple[int, str]] = {}

    def look(self, text: str, label: str, raw: str = "") -> None:
        """Count a cleaned post; ``raw``: as it was before."""
        if "\0" in raw:
            self._count("nul", label)
        if not text.isascii():
            if _MISREAD.search(text):
                self._count("misread", label)
            elif _OTHER.search(text):
                self._count("other", label)
            if "\ufffd" in text:
                self._count("replaced", label)
        if "<" in text and _TAG.search(text):
            self._count("tagged", label)
        if "&" in text and _ENTITY.search(text):
            self._count("entities", label)
        if "\\" in text and _ESCAPED.search(text):
            self._count("escaped", label)
        if len(text) <= _LONGEST_MISSING and text.casefold() in _MISSING:
            self._count("missing", label)

    def _count(self, kind: str, label: str) -> None:
        count, first = self._posts.get(kind, (0, label))
        self._posts[kind] = count + 1, first

    def lines(self, authors: Iterable[str], naming: bool = True) -> list[str]:
        """Return what was seen, and what is odd about the names of ``authors``; without ``naming``, counts alone."""
        lines = [
            f"{count:,} posts {_MEANINGS[kind]}" + (f"; the first is {first}" if naming else "")
            for kind, (count, first) in self._posts.items()
        ]
        known: dict[str, str] = {}
        alike: list[tuple[str, str]] = []
        missing: list[str] = []
        rounded = 0
        for name in authors:
            rounded += _ROUNDED.fullmatch(name) is not None
            if name.casefold() in _NOBODY:
                missing.append(name)
            other = known.setdefault(_plain(name), name)
            if other != name:
                alike.append((other, name))
        if naming:
            lines += [
                f"the author {name!r} may stand for nobody; list it under 'excluded_authors' if it is one"
                for name in missing
            ]
        elif missing:
            lines.append(f"{len(missing):,} authors' names may stand for nobody; the log of build_documents names them")
        if rounded:
            lines.append(
                f"authors' names that are numbers as a spreadsheet rounds them, such as 1.23457E+17: {rounded:,}; "
                "several people may have one name; export the column as text"
            )
        if alike:
            first = f", such as {' and '.join(map(ascii, alike[0]))}" if naming else ""
            lines.append(
                f"authors whose names differ in letter case, invisible characters, leading zeros or 'u/' alone: "
                f"{len(alike):,}{first}; make the names equal where they are one person"
            )
        return lines


def _plain(name: str) -> str:
    signs = unicodedata.normalize("NFKC", name)
    visible = "".join(sign for sign in signs if sign.isspace() or unicodedata.category(sign) not in ("Cc", "Cf"))
    plain = _REDDIT.sub("", " ".join(visible.casefold().split()))
    return (plain.lstrip("0") or "0") if plain.isdecimal() else plain
