"""The clients' own texts: every document by split, and the part of the training documents within the allocation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from favor.corpora.allocation import AllocationSettings, allocate
from favor.corpora.cleaning import CleaningSettings
from favor.corpora.documents import stream_documents
from favor.foundation.seeds import numpy_generator


class ClientTexts(NamedTuple):
    """``texts``: the ``client_texts`` table. ``allocation``: the ``allocation`` table it keeps to."""

    texts: pd.DataFrame
    allocation: pd.DataFrame


def cut_words(text: str, words: int, expression: re.Pattern[str]) -> str:
    """Return the start of ``text`` up to the end of its ``words``-th word unit, white space as it was."""
    if words <= 0:
        return ""
    for number, match in enumerate(expression.finditer(text), start=1):
        if number == words:
            return text[: match.end()]
    return text


def materialise(
    documents: Path,
    splits: pd.DataFrame,
    roster: pd.DataFrame,
    settings: AllocationSettings,
    cleaning: CleaningSettings,
    seed: int,
) -> ClientTexts:
    """Return the clients' texts and allocation.

    With ``settings.enforce`` a client's training documents are taken whole, in an order shuffled by (``seed``,
    author), until its allocation is reached; the last one is cut after the word that reaches it. Otherwise all of
    them are trained on. A document cut to nothing, and every held-out one, has no training text. Words count by
    ``cleaning.word_expression``, as in the ``documents`` table.
    """
    client_of = dict(zip(roster["author"], roster["client"], strict=True))
    client_of = {author: client for author, client in client_of.items() if client}
    columns = ("author", "document_id", "topic", "prompt", "text", "words")
    own = [batch[batch["author"].isin(list(client_of))] for batch in stream_documents(documents, columns)]
    texts = pd.concat(own, ignore_index=True).merge(
        splits[["document_id", "split"]], on="document_id", how="inner", validate="one_to_one"
    )
    texts["client"] = texts["author"].map(client_of)
    train = texts[texts["split"] == "train"]
    available = {str(client): int(words) for client, words in train.groupby("client")["words"].sum().items()}
    allocation = allocate(available, settings)
    budgets = dict(zip(allocation["client"], allocation["allocated_words"], strict=True))
    expression = re.compile(cleaning.word_expression)
    allocated: dict[int, int] = {}
    for author, rows in train.groupby("author"):
        rows = rows.sort_values("document_id")
        places, words = rows.index.tolist(), rows["words"].tolist()
        left = budgets[client_of[str(author)]] if settings.enforce else sum(words)
        for place in numpy_generator(seed, "allocation", str(author)).permutation(len(rows)):
            allocated[places[place]] = min(words[place], left)
            left -= allocated[places[place]]
    texts["allocated_words"] = texts.index.map(lambda row: allocated.get(row, 0)).astype("int32")
    texts["training_text"] = [
        text if words == part else cut_words(text, part, expression)
        for text, words, part in zip(texts["text"], texts["words"], texts["allocated_words"], strict=True)
    ]
    texts.loc[texts["split"] != "train", "training_text"] = ""
    names = ["client", "document_id", "split", "topic", "prompt", "text", "words", "allocated_words", "training_text"]
    return ClientTexts(texts.sort_values(["client", "document_id"], ignore_index=True)[names], allocation)
