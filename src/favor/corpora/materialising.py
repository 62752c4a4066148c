"""The clients' own texts: every document by split, and the part of the training documents within the allocation."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from favor.corpora.allocation import allocate
from favor.corpora.documents import stream_documents
from favor.corpora.settings import Allocation
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.foundation.words import document_words


class ClientTexts(NamedTuple):
    """``texts``: the ``client_texts`` table. ``allocation``: the ``allocation`` table it keeps to."""

    texts: pd.DataFrame
    allocation: pd.DataFrame


def materialise(
    documents: Path,
    splits: pd.DataFrame,
    roster: pd.DataFrame,
    settings: Allocation,
    kind: str,
) -> ClientTexts:
    """Return the clients' texts and allocation.

    With ``settings.enforce`` a client's training documents are taken whole, in an order shuffled by (seed,
    author), until its allocation is reached; the last one is cut after the word that reaches it. Otherwise all of
    them are trained on. A document cut to nothing, and every held-out one, has no training text.
    ``kind``: what counts as a word (:func:`favor.foundation.words.document_words`), as in the ``documents`` table. With
    ``settings.shots`` see :func:`few_shot`.
    """
    client_of = dict(zip(roster["author"], roster["client"], strict=True))
    client_of = {author: client for author, client in client_of.items() if client}
    columns = ("author", "document_id", "topic", "prompt", "text", "words")
    own = [batch[batch["author"].isin(list(client_of))] for batch in stream_documents(documents, columns)]
    texts = pd.concat(own, ignore_index=True).merge(
        splits[["document_id", "split"]], on="document_id", how="inner", validate="one_to_one"
    )
    texts["client"] = texts["author"].map(client_of)
    if settings.shots is not None:
        return few_shot(texts, settings)
    train = texts[texts["split"] == "train"]
    available = {str(client): int(words) for client, words in train.groupby("client")["words"].sum().items()}
    allocation = allocate(available, settings)
    budgets = dict(zip(allocation["client"], allocation["allocated_words"], strict=True))
    cut = document_words(kind).cut
    allocated: dict[int, int] = {}
    for author, rows in train.groupby("author"):
        rows = rows.sort_values("document_id")
        places, words = rows.index.tolist(), rows["words"].tolist()
        left = budgets[client_of[str(author)]] if settings.enforce else sum(words)
        for place in numpy_generator(settings.seed, "allocation", str(author)).permutation(len(rows)):
            allocated[places[place]] = min(words[place], left)
            left -= allocated[places[place]]
    texts["allocated_words"] = texts.index.map(lambda row: allocated.get(row, 0)).astype("int32")
    texts["training_text"] = [
        text if words == part else cut(text, part)
        for text, words, part in zip(texts["text"], texts["words"], texts["allocated_words"], strict=True)
    ]
    texts.loc[texts["split"] != "train", "training_text"] = ""
    return ClientTexts(_client_texts(texts), allocation)


def few_shot(texts: pd.DataFrame, settings: Allocation) -> ClientTexts:
    """Return the texts and allocation of clients that have ``settings.shots`` whole training texts each.

    ``texts``: all texts of the clients, with author, client and split. Training texts come in an order shuffled by
    (seed, author): the first are the shots, so those of a smaller number are among those of a larger; the last
    ``settings.reference_texts`` become the split "reference", the same for every number of shots; the others are left
    out. Raises ``UserError`` where a client has too few.
    """
    shots, references = settings.shots or 0, settings.reference_texts
    train = texts[texts["split"] == "train"]
    chosen: list[int] = []
    for (author, client), rows in train.groupby(["author", "client"]):
        if len(rows) < shots + references:
            raise UserError(
                f"{client}: {len(rows)} training texts, but {shots} shots and {references} reference texts are wanted; "
                "lower 'allocation.shots' or 'allocation.reference_texts', or raise 'minimum_posts' of the corpus"
            )
        rows = rows.sort_values("document_id")
        order = rows.index[numpy_generator(settings.seed, "allocation", str(author)).permutation(len(rows))]
        chosen += order[:shots].tolist()
        texts.loc[order[len(order) - references :], "split"] = "reference"
    trained = texts.index.isin(chosen)
    texts["allocated_words"] = texts["words"].where(trained, 0).astype("int32")
    texts["training_text"] = texts["text"].where(trained, "")
    available = train.groupby("client")["words"].sum()
    allocated = texts.groupby("client")["allocated_words"].sum().reindex(available.index)
    columns = {"available_words": available, "target_words": allocated, "allocated_words": allocated}
    allocation = pd.DataFrame(columns).astype("int64").reset_index()
    return ClientTexts(_client_texts(texts[trained | (texts["split"] != "train")]), allocation)


def _client_texts(texts: pd.DataFrame) -> pd.DataFrame:
    names = ["client", "document_id", "split", "topic", "prompt", "text", "words", "allocated_words", "training_text"]
    return texts.sort_values(["client", "document_id"], ignore_index=True)[names]
