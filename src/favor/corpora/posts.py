"""What a corpus reader yields: one raw post, before any cleaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol


class RawPost(NamedTuple):
    """One post as the source has it.

    ``author`` and ``text`` are always there; ``topic`` is the metadata topic ("indUnk" where the source has none),
    ``prompt`` the writing prompt and ``date`` the date, each "" where the source has none. ``row_label`` names the
    row, line or file for messages.
    """

    author: str
    topic: str
    prompt: str
    text: str
    date: str
    row_label: str


UNKNOWN_TOPIC = "indUnk"  # the Blog Authorship Corpus' own word for an unknown industry


@dataclass(frozen=True)
class ReaderSettings:
    """How a source file is read.

    ``encoding``: text encoding of CSV and JSONL files (strict: a byte that does not fit is an error).
    ``columns``: the source's names for our columns (author, text, topic, prompt, date), where they differ.
    ``maximum_field_characters``: longest field believed; a quote that is never closed swallows the rest of the file
    and is stopped there.
    """

    encoding: str = "utf-8"
    columns: Mapping[str, str] = field(default_factory=dict)
    maximum_field_characters: int = 16_000_000


class Reader(Protocol):
    """A module of :mod:`favor.corpora.readers`."""

    def read(self, path: Path, settings: ReaderSettings) -> Iterator[RawPost]:
        """Yield the posts of ``path`` in the source's own order."""
        ...
