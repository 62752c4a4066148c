"""80/10/10 train, validation and test partitions of each author's documents (paper, Data preprocessing)."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.corpora.documents import stream_documents
from favor.corpora.settings import Splitting
from favor.corpora.shortage import ShortageError
from favor.foundation.seeds import numpy_generator

HELD_OUT_SHARE = 0.1  # of an author's documents, in validation and in test each


class Splits(NamedTuple):
    """``splits``: the table of that name. ``excluded``: authors, ``undated``: posts that are left out."""

    splits: pd.DataFrame
    excluded: int
    undated: int = 0


def split_sizes(documents: int) -> tuple[int, int]:
    """Return (validation, test) document counts, max(1, round(share * documents)) each; halves round to even."""
    held_out = max(1, round(HELD_OUT_SHARE * documents))
    return held_out, held_out


def split_documents(documents: Path, settings: Splitting) -> Splits:
    """Split the documents of every author who has enough of them.

    The shuffle depends on the seed and the author alone, so other authors never move a document. Raises
    ``ShortageError`` where no author has enough documents, or posts without a date are refused.
    """
    order = ["author", *(["date"] if settings.split == "temporal" else []), "document_id"]
    frame = pd.concat(stream_documents(documents, order), ignore_index=True)
    frame, undated = _dated(documents, frame, settings)
    counts = frame.groupby("author")["document_id"].transform("size")
    excluded = frame.loc[counts < settings.minimum_posts, "author"].nunique()
    frame = frame[counts >= settings.minimum_posts].sort_values(order, ignore_index=True)
    if frame.empty:
        raise ShortageError(
            f"{documents}: no author has {settings.minimum_posts} documents (the most is {counts.max()}); "
            "lower 'minimum_posts' of the corpus or give a larger corpus"
        )
    parts = [split_of(str(author), len(rows), settings) for author, rows in frame.groupby("author", sort=True)]
    splits = frame[["author", "document_id"]].assign(split=np.concatenate(parts))
    return Splits(splits.sort_values(["author", "document_id"], ignore_index=True), excluded, undated)


def _dated(documents: Path, frame: pd.DataFrame, settings: Splitting) -> tuple[pd.DataFrame, int]:
    """Return the posts that can be split, and the number of those that cannot."""
    if settings.split != "temporal":
        return frame, 0
    dated = frame["date"] != ""
    if not dated.all() and settings.undated == "refuse":
        raise ShortageError(
            f"{documents}: {(~dated).sum():,} of {len(frame):,} posts have no date that can be read, which 'split: "
            "temporal' needs; set the corpus key 'undated' to drop, or name their column as 'date' under 'columns'"
        )
    if not dated.any():
        raise ShortageError(f"{documents}: no post has a date that can be read; set the corpus key 'split' to random")
    return frame[dated], int((~dated).sum())


def split_of(author: str, documents: int, settings: Splitting) -> np.ndarray:
    """Return the split of each of an author's ``documents``, in the order of their dates or ids."""
    validation, test = split_sizes(documents)
    if settings.split == "temporal":
        return np.repeat(["train", "validation", "test"], [documents - validation - test, validation, test])
    order = numpy_generator(settings.seed, "splits", author).permutation(documents)
    names = np.full(documents, "train", dtype=object)
    names[order[:validation]] = "validation"
    names[order[validation : validation + test]] = "test"
    return names
