"""Small corpora and tokenizers that several tests make."""

from pathlib import Path

import pandas as pd
from tokenizers import ByteLevelBPETokenizer, Tokenizer, models, pre_tokenizers

from favor.corpora.building import build_documents
from favor.corpora.documents import DocumentWriter
from favor.corpora.posts import open_reader
from favor.corpora.schemas import DOCUMENTS, DROPPED
from favor.corpora.settings import Cleaning
from favor.foundation.parquet import read_parquet


def write_documents(path, rows) -> Path:
    """Write rows of author, document_id, topic, prompt, text, words and, if there is one, date."""
    writer = DocumentWriter(path)
    for row in rows:
        writer.write((*row, *[""] * (7 - len(row))))
    writer.close()
    return path


def built(source, reader, folder, settings=None, **more) -> tuple[dict[str, int], pd.DataFrame]:
    """Build a corpus in ``folder``; return the rows by reason, as its table of them has them, and the documents."""
    out, dropped = folder / "documents.parquet", folder / "dropped.parquet"
    counts = build_documents(source, open_reader(reader), settings or Cleaning(), out, dropped, **more)
    assert dict(read_parquet(dropped, DROPPED).itertuples(index=False)) == counts
    return counts, read_parquet(out, DOCUMENTS)


def byte_level(texts=("the cat sat on the mat",), size=280) -> ByteLevelBPETokenizer:
    model = ByteLevelBPETokenizer()
    model.train_from_iterator(texts, vocab_size=size, show_progress=False)
    return model


def word_level(words=()) -> Tokenizer:
    """Every one of ``words`` is a token, and every other run of letters or of marks an unknown one."""
    numbered = {word: place for place, word in enumerate(["[UNK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(numbered, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer
