"""Per-author totals, with tokens under the base model's own tokenizer (the paper's "at least 30K tokens")."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
from tokenizers import Tokenizer

from favor.corpora.documents import author_totals, stream_documents
from favor.foundation.errors import UserError
from favor.foundation.progress import Progress


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Return the tokenizer of a ``tokenizer.json``, or of the folder that holds one, without truncation or padding.

    Raises ``UserError`` where the file is missing or broken.
    """
    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"
    if not file.is_file():
        raise UserError(f"{file}: no such file; the base model's folder must hold a tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception for every fault of the file
        raise UserError(f"{file}: not a whole tokenizer.json ({error}); fetch or build it again") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(documents: Path, tokenizer: str | Path, progress: Progress | None = None) -> pd.DataFrame:
    """Return the ``authors`` table: topic, documents, words and tokens of every author, sorted by author.

    Tokens are counted document by document without special tokens.
    """
    model = load_tokenizer(tokenizer)
    tokens: Counter[str] = Counter()
    for batch in stream_documents(documents, ("author", "text"), rows=1024):
        encodings = model.encode_batch_fast(batch["text"].tolist(), add_special_tokens=False)
        for author, encoding in zip(batch["author"], encodings, strict=True):
            tokens[author] += len(encoding)
        if progress is not None:
            progress.update(len(batch))
    totals = author_totals(documents)
    return totals.assign(tokens=totals["author"].map(tokens).astype("int64"))
