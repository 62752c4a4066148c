"""The background authors: text for a small base model made from scratch, chosen before any tokenizer exists."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from favor.corpora.documents import author_totals
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed


@dataclass(frozen=True)
class BackgroundSettings:
    """``authors``: how many (0: none, for a ready base model), each with at least ``minimum_words``; ``seed``."""

    authors: int = 0
    minimum_words: int = 2_000
    seed: int = 2026


def choose_background(documents: Path, settings: BackgroundSettings) -> pd.DataFrame:
    """Return the background authors as an ``authors`` table (tokens not counted).

    The first ``authors`` in the order of a seeded hash of their names: a choice of n is part of every larger one.
    Raises ``UserError`` where fewer authors have ``minimum_words``.
    """
    totals = author_totals(documents)
    eligible = totals[totals["words"] >= settings.minimum_words]
    if len(eligible) < settings.authors:
        raise UserError(
            f"background: {len(eligible)} authors have {settings.minimum_words:,} words, {settings.authors} are "
            "needed; lower 'roles.background' or 'background_minimum_words' of the corpus"
        )
    order = sorted(eligible["author"], key=lambda author: (derive_seed(settings.seed, "background", author), author))
    return eligible[eligible["author"].isin(order[: settings.authors])].reset_index(drop=True)
