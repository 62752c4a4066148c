"""The background authors: text for a small base model made from scratch, chosen before any tokenizer exists."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from favor.corpora.documents import author_totals
from favor.corpora.settings import Background
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed


def choose_background(documents: Path, settings: Background) -> pd.DataFrame:
    """Return the background authors as an ``authors`` table (tokens not counted).

    The first ``authors`` in the order of a seeded hash of their names: a choice of n is part of every larger one.
    Raises ``UserError`` where fewer authors have ``background_minimum_words``.
    """
    totals = author_totals(documents)
    eligible = totals[totals["words"] >= settings.background_minimum_words]
    if len(eligible) < settings.authors:
        raise UserError(
            f"background: {len(eligible)} authors have {settings.background_minimum_words:,} words, "
            f"{settings.authors} are needed; lower 'roles.background' or 'background_minimum_words' of the corpus, or "
            "take a pretrained base model, which needs none: 'make real-base', then 'favor init' on your posts"
        )
    order = sorted(eligible["author"], key=lambda author: (derive_seed(settings.seed, "background", author), author))
    return eligible[eligible["author"].isin(order[: settings.authors])].reset_index(drop=True)
