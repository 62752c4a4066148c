"""The background authors: text for a small base model made from scratch, chosen before any tokenizer exists."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from favor.corpora.documents import author_totals
from favor.corpora.settings import Background, BackgroundChoice
from favor.corpora.shortage import ShortageError
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed


def choose_background(documents: Path, settings: Background) -> pd.DataFrame:
    """Return the background authors as an ``authors`` table (tokens not counted).

    The first ``authors`` in the order of a seeded hash of their names: a choice of n is part of every larger one.
    Raises ``ShortageError`` where fewer authors have ``background_minimum_words``.
    """
    eligible = possible_background(documents, settings)
    if len(eligible) < settings.authors:
        raise ShortageError(
            f"background: {len(eligible)} authors have {settings.background_minimum_words:,} words, "
            f"{settings.authors} are needed; lower 'roles.background' or 'background_minimum_words' of the corpus, or "
            "take a pretrained base model, which needs none: 'make real-base', then 'favor init' on your posts"
        )
    order = sorted(eligible["author"], key=lambda author: (derive_seed(settings.seed, "background", author), author))
    return eligible[eligible["author"].isin(order[: settings.authors])].reset_index(drop=True)


def possible_background(documents: Path, settings: BackgroundChoice) -> pd.DataFrame:
    """Return the rows of those who have enough words, as an ``authors`` table (tokens not counted)."""
    totals = author_totals(documents)
    return totals[totals["words"] >= settings.background_minimum_words]


def check_background(authors: Collection[str], file: str) -> None:
    """Raise ``UserError`` where the table of background authors is empty, because too few could be chosen."""
    if not authors:
        raise UserError(f"{file}: no background authors, since too few have enough words; 'favor check' says how many")
