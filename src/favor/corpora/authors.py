"""Totals of each author, with tokens under the base model's own tokenizer, and the choice of background authors."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pandas as pd
from tokenizers import Tokenizer

from favor.corpora.documents import author_totals, stream_documents
from favor.corpora.settings import Background, BackgroundChoice
from favor.corpora.shortage import ShortageError
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed
from favor.foundation.tokenizer import most_tokens, open_tokenizer
from favor.running.jobs.progress import Progress


def count_tokens(
    documents: Path, tokenizer: str | Path, minimum_tokens: int = 0, progress: Progress | None = None
) -> pd.DataFrame:
    """Return the ``authors`` table: topic, documents, words and tokens of every author, sorted by author.

    Tokens are counted document by document without special tokens. Authors whose texts are too short for
    ``minimum_tokens``, whatever is in them, are not counted (-1).
    """
    model = open_tokenizer(tokenizer)
    totals = author_totals(documents)
    counted = _worth_counting(documents, model, minimum_tokens) if minimum_tokens else set(totals["author"])
    if progress is not None:
        progress.total = int(totals.loc[totals["author"].isin(counted), "documents"].sum())
    tokens = dict.fromkeys(totals["author"], -1) | dict.fromkeys(counted, 0)
    for batch in stream_documents(documents, ("author", "text"), rows=1024):
        own = batch[batch["author"].isin(counted)]
        encodings = model.encode_batch_fast(own["text"].tolist(), add_special_tokens=False)
        for author, encoding in zip(own["author"], encodings, strict=True):
            tokens[author] += len(encoding)
        if progress is not None and len(own):
            progress.update(len(own))
    return totals.assign(tokens=totals["author"].map(tokens).astype("int64"))


def _worth_counting(documents: Path, model: Tokenizer, minimum_tokens: int) -> set[str]:
    """Return the authors who may have ``minimum_tokens``."""
    bound = most_tokens(model)
    most: Counter[str] = Counter()
    for batch in stream_documents(documents, ("author", "text")):
        for author, text in batch.itertuples(index=False, name=None):
            most[author] += minimum_tokens if bound is None else bound(text)
    return {author for author, tokens in most.items() if tokens >= minimum_tokens}


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
