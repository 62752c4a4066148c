"""Texts of any authors of a roster: held-out ones, and what encoders that were trained elsewhere read."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from favor.corpora.documents import stream_documents
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator


def held_out_texts(
    documents: Path,
    splits: pd.DataFrame,
    roster: pd.DataFrame,
    clients: Sequence[str],
    most: int,
    seed: int,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Return at most ``most`` test texts of each of ``clients``: client, document_id, prompt, text, sorted.

    ``documents``: file of the table of that name; ``splits`` and ``roster`` are those of the same corpus. The texts are
    drawn by (``seed``, client), whoever else is asked for. ``left_out``: documents that are never returned, because a
    near duplicate of them may have been trained on. Raises ``UserError`` for a client without a test text.
    """
    texts = _texts(documents, splits, roster[roster["client"].isin(list(clients))], "prompt")
    test = texts[(texts["split"] == "test") & ~texts["document_id"].isin(list(left_out))]
    if without := sorted(set(clients) - set(test["client"])):
        unique = " without a near duplicate" * bool(left_out)
        raise UserError(f"{without[0]} has no test text{unique}; raise 'minimum_posts' of its corpus")
    chosen = pd.concat(_drawn(test, most, seed, "held-out texts"), ignore_index=True)
    return chosen[["client", "document_id", "prompt", "text"]]


def transfer_texts(
    documents: Path, splits: pd.DataFrame, roster: pd.DataFrame, held_out: int, seed: int
) -> pd.DataFrame:
    """Return every client's training texts and at most ``held_out`` of its test texts: client, item, kind, topic, text.

    ``documents``, ``splits``, ``roster``: as of :func:`held_out_texts`. The test texts are drawn by (``seed``, client).
    Raises ``UserError`` where a client has no text of either kind.
    """
    clients = roster[roster["role"] == "client"]
    texts = _texts(documents, splits, clients, "topic")
    drawn = _drawn(texts[texts["split"] == "test"], held_out, seed, "transfer texts")
    chosen = pd.concat([texts[texts["split"] == "train"], *drawn], ignore_index=True)
    chosen = chosen.rename(columns={"document_id": "item", "split": "kind"})
    for kind in ("train", "test"):
        if without := sorted(set(clients["client"]) - set(chosen.loc[chosen["kind"] == kind, "client"])):
            raise UserError(f"transfer: {without[0]} has no {kind} text; raise 'minimum_posts' of its corpus")
    return chosen[["client", "item", "kind", "topic", "text"]].sort_values(["client", "item"], ignore_index=True)


def _texts(documents: Path, splits: pd.DataFrame, roster: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the documents of a roster's authors with their split, sorted by client and document."""
    client_of = roster.set_index("author")["client"]
    batches = stream_documents(documents, ("author", "document_id", column, "text"), authors=client_of.index)
    texts = pd.concat(batches, ignore_index=True)
    texts = texts.merge(splits[["document_id", "split"]], on="document_id", validate="one_to_one")
    return texts.assign(client=texts["author"].map(client_of)).sort_values(["client", "document_id"])


def _drawn(texts: pd.DataFrame, most: int, seed: int, purpose: str) -> list[pd.DataFrame]:
    parts = []
    for client, own in texts.groupby("client"):
        order = numpy_generator(seed, purpose, str(client)).permutation(len(own))
        parts.append(own.iloc[sorted(order[:most].tolist())])
    return parts
