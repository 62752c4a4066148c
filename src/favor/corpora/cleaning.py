"""What cleaning does to one text."""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from dataclasses import dataclass

LINK_MARKER = "urlLink"  # stands in the corpus where a post had a link
_LINK = re.compile(rf"\b{LINK_MARKER}\b")
# Control characters other than tab and line ends, and invisible marks that split words or start files.
INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff]")

SPACES = re.compile("  +")


@dataclass(frozen=True)
class CleaningSettings:
    """How posts are cleaned and which are dropped (DECISIONS, Data).

    ``words``: what counts as a word (:func:`favor.foundation.words.document_words`). ``minimum_words``: shorter posts
    are dropped.
    ``keep_line_breaks``: a run of white space with a line break becomes one line break, otherwise a space.
    ``shared_authors``: what becomes of authors who share at least ``shared_posts`` identical posts of at least
    ``shared_post_words`` words: "drop" all of them, "keep_larger" (the one with the most words stays) or "merge" them
    into one. All are dropped by default: one person with two accounts, or a blog of several hands, makes the author
    label untrue either way, and the corpus has authors enough.
    ``excluded_authors``, ``excluded_texts``: names that are not an author's and texts (after cleaning) that are not a
    post; None takes those that the reader declares.
    """

    words: str = "paper"
    minimum_words: int = 1
    keep_line_breaks: bool = True
    shared_authors: str = "drop"
    shared_posts: int = 5
    shared_post_words: int = 50
    excluded_authors: Collection[str] | None = None
    excluded_texts: Collection[str] | None = None


def clean_text(text: str, keep_line_breaks: bool = True) -> str:
    """Return ``text`` with entities resolved, link markers and control characters removed and white space settled.

    Bytes 0x80-0x9f left over from cp1252 become the characters they stood for. Idempotent but for entities, which
    are resolved once ("&amp;lt;" is the text "&lt;").
    """
    if "&" in text:
        text = html.unescape(text)
    if LINK_MARKER in text:
        text = _LINK.sub(" ", text)
    text = text.strip(" \t\r\n")
    if not text.isprintable():  # of white space, a printable text has spaces alone
        text = INVISIBLE.sub(_visible, text)
    else:
        return SPACES.sub(" ", text)
    if keep_line_breaks and ("\n" in text or "\r" in text):
        lines = [" ".join(line.split()) for line in text.replace("\r", "\n").split("\n")]
        return "\n".join([line for line in lines if line])
    return " ".join(text.split())


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if "\x80" <= character <= "\x9f":
        return character.encode("latin-1").decode("cp1252", errors="ignore")
    return "" if character in "\u200b\u2060\ufeff" else " "
