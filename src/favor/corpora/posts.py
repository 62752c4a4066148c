"""One raw post: what a corpus reader yields, readers by their names, and what cleaning does to a text."""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from favor.corpora.settings import SourceFile
from favor.foundation.errors import UserError
from favor.foundation.names import shared_value
from favor.foundation.registry import CORPUS_READERS


class RawPost(NamedTuple):
    """One post as the source has it.

    ``author`` and ``text`` are always there; ``topic`` is the metadata topic ("indUnk" where the source has none),
    ``prompt`` the writing prompt and ``date`` the date, each "" where the source has none. ``row_label`` names the
    row, line or file for messages. ``unreadable``: the reader could not make text of it; it is dropped and counted.
    """

    author: str
    topic: str
    prompt: str
    text: str
    date: str
    row_label: str
    unreadable: bool = False


UNKNOWN_TOPIC = "indUnk"  # the Blog Authorship Corpus' own word for an unknown industry


class ReaderSettings(SourceFile):
    """How a source file is read.

    ``encoding``: text encoding of the file; None takes the reader's own (utf-8, cp1252 for ``blog_xml``). Tables are
    read strictly: a byte that does not fit is an error.
    ``columns``: the source's names for our columns (author, text, topic, prompt, date), where they differ.
    ``maximum_field_characters``: longest field, and longest line of a JSON Lines file, that is believed. A quote that
    is never closed swallows the rest of the file and is stopped there.
    ``has_keys``: whether the configuration has keys ``columns`` and ``encoding`` for this file, so that messages may
    name them. ``filled``: columns whose null is an error, not an empty text. ``numbers``: columns of whole numbers,
    which may be stored as floats (7.0), as pandas does where some are missing.
    """

    maximum_field_characters: int = 16_000_000
    has_keys: bool = True
    filled: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    @classmethod
    def of(cls, corpus: SourceFile) -> "ReaderSettings":
        """Return how the source of a corpus is read."""
        columns, form = corpus.columns, corpus.date_format
        return cls(encoding=corpus.encoding, separator=corpus.separator, date_format=form, columns=columns)

    @property
    def table_encoding(self) -> str:
        """The encoding of a table."""
        return self.encoding or "utf-8"

    def column_names(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the column of every role, given the reader's ``own`` names.

        Raises ``UserError`` where ``columns`` names a role that the reader does not have, or one column has two roles.
        """
        for role in self.columns:
            if role not in own:
                raise UserError(f"corpus key 'columns': '{role}' is not one of {', '.join(own)}")
        names = dict(own) | {str(role): column for role, column in self.columns.items()}
        shared = shared_value(names)
        if shared:
            raise UserError(
                f"corpus key 'columns': column '{names[shared[0]]}' is read as {shared[0]} and as {shared[1]}; "
                "name a column of its own for each, or rename the column in the file"
            )
        return names


class Reader(Protocol):
    """A module of :mod:`favor.corpora.readers` or :mod:`favor.exports`.

    It may also declare, each as a literal that the configuration reads without importing the file:
    ``COLUMNS`` (role -> name of its column), ``ENCODING`` (its own text encoding), ``EXCLUDED_AUTHORS`` and
    ``EXCLUDED_TEXTS`` (names and texts that the source writes in the place of an author or a post). And a function
    ``suspicions(path)``, which yields one line, without names, for each sign that the source is not whole.
    """

    def read(self, path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
        """Yield the posts of ``path`` in the source's own order."""
        ...


def open_reader(kind: str) -> Reader:
    """Return the reader module named ``kind`` (blog_csv, mbox, table or another, or one that you added).

    Raises ``UserError`` where the readers' folders hold no such file or the file defines no ``read``.
    """
    return cast(Reader, CORPUS_READERS.load(kind))


LINK_MARKER = "urlLink"  # stands in the corpus where a post had a link
_LINK = re.compile(rf"\b{LINK_MARKER}\b")
# Control characters other than tab and line ends, and invisible marks that split words or start files.
INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff]")

SPACES = re.compile("  +")


def clean_text(text: str) -> str:
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
    if "\n" in text or "\r" in text:
        lines = [" ".join(line.split()) for line in text.replace("\r", "\n").split("\n")]
        return "\n".join([line for line in lines if line])
    return " ".join(text.split())


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if "\x80" <= character <= "\x9f":
        return character.encode("latin-1").decode("cp1252", errors="ignore")
    return "" if character in "\u200b\u2060\ufeff" else " "
