"""80/10/10 train, validation and test partitions of each author's documents (paper, Data preprocessing)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from favor.corpora.documents import stream_documents
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator


@dataclass(frozen=True)
class SplitSettings:
    """``validation`` and ``test``: shares of an author's documents, each at least one document.

    Authors with fewer than ``minimum_posts`` are left out. ``seed`` fixes the shuffle.
    """

    validation: float = 0.1
    test: float = 0.1
    minimum_posts: int = 10
    seed: int = 2026


class Splits(NamedTuple):
    """``splits``: the table of that name. ``excluded``: author, documents, reason of the authors left out."""

    splits: pd.DataFrame
    excluded: pd.DataFrame


def split_sizes(documents: int, settings: SplitSettings) -> tuple[int, int]:
    """Return (validation, test) document counts, max(1, round(share * documents)) each; halves round to even."""
    return max(1, round(settings.validation * documents)), max(1, round(settings.test * documents))


def split_documents(documents: Path, settings: SplitSettings) -> Splits:
    """Split the documents of every author who has enough of them.

    The shuffle depends on the seed and the author alone, so other authors never move a document. Raises
    ``UserError`` where the settings leave no training document or no author has enough documents.
    """
    smallest = max(settings.minimum_posts, 1)
    if sum(split_sizes(smallest, settings)) >= smallest:
        raise UserError(f"splits: {smallest} documents leave none for training; raise 'minimum_posts' of the corpus")
    frame = pd.concat(stream_documents(documents, ("author", "document_id")), ignore_index=True)
    counts = frame.groupby("author")["document_id"].transform("size")
    few = frame[counts < settings.minimum_posts].groupby("author", as_index=False).size()
    excluded = few.rename(columns={"size": "documents"}).assign(reason=f"fewer than {settings.minimum_posts} documents")
    frame = frame[counts >= settings.minimum_posts].sort_values(["author", "document_id"], ignore_index=True)
    if frame.empty:
        raise UserError(
            f"{documents}: no author has {settings.minimum_posts} documents (the most is {counts.max()}); "
            "lower 'minimum_posts' of the corpus or give a larger corpus"
        )
    parts = [_split_of(str(author), len(rows), settings) for author, rows in frame.groupby("author", sort=True)]
    return Splits(frame.assign(split=np.concatenate(parts)), excluded)


def _split_of(author: str, documents: int, settings: SplitSettings) -> np.ndarray:
    validation, test = split_sizes(documents, settings)
    order = numpy_generator(settings.seed, "splits", author).permutation(documents)
    names = np.full(documents, "train", dtype=object)
    names[order[:validation]] = "validation"
    names[order[validation : validation + test]] = "test"
    return names
