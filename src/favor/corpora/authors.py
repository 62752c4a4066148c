"""Per-author totals, with tokens under the base model's own tokenizer (the paper's "at least 30K tokens")."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd

from favor.corpora.documents import author_totals, stream_documents
from favor.foundation.tokenizer import open_tokenizer
from favor.running.progress import Progress


def count_tokens(documents: Path, tokenizer: str | Path, progress: Progress | None = None) -> pd.DataFrame:
    """Return the ``authors`` table: topic, documents, words and tokens of every author, sorted by author.

    Tokens are counted document by document without special tokens.
    """
    model = open_tokenizer(tokenizer)
    tokens: Counter[str] = Counter()
    for batch in stream_documents(documents, ("author", "text"), rows=1024):
        encodings = model.encode_batch_fast(batch["text"].tolist(), add_special_tokens=False)
        for author, encoding in zip(batch["author"], encodings, strict=True):
            tokens[author] += len(encoding)
        if progress is not None:
            progress.update(len(batch))
    totals = author_totals(documents)
    return totals.assign(tokens=totals["author"].map(tokens).astype("int64"))
