"""Human texts of a corpus's clients for encoders trained elsewhere: for prototypes, and held out."""

from pathlib import Path

import pandas as pd

from favor.corpora.documents import stream_documents
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator


def transfer_texts(
    documents: Path, splits: pd.DataFrame, roster: pd.DataFrame, held_out: int, seed: int
) -> pd.DataFrame:
    """Return every client's training texts and at most ``held_out`` of its test texts: client, item, kind, topic, text.

    ``documents``: file of the table of that name; ``splits`` and ``roster`` are those of the same corpus. The test
    texts are drawn by (``seed``, client). Raises ``UserError`` where a client has no text of either kind.
    """
    clients = roster.loc[roster["role"] == "client"].set_index("author")["client"]
    batches = stream_documents(documents, ("author", "document_id", "topic", "text"))
    texts = pd.concat([batch[batch["author"].isin(clients.index)] for batch in batches], ignore_index=True)
    texts = texts.merge(splits[["document_id", "split"]], on="document_id", validate="one_to_one")
    texts = texts.assign(client=texts["author"].map(clients)).sort_values(["client", "document_id"])
    parts = [texts[texts["split"] == "train"]]
    for client, own in texts[texts["split"] == "test"].groupby("client"):
        order = numpy_generator(seed, "transfer texts", str(client)).permutation(len(own))
        parts.append(own.iloc[sorted(order[:held_out])])
    chosen = pd.concat(parts, ignore_index=True).rename(columns={"document_id": "item", "split": "kind"})
    for kind in ("train", "test"):
        without = sorted(set(clients) - set(chosen.loc[chosen["kind"] == kind, "client"]))
        if without:
            raise UserError(f"transfer: {without[0]} has no {kind} text; raise 'minimum_posts' of its corpus")
    return chosen[["client", "item", "kind", "topic", "text"]].sort_values(["client", "item"], ignore_index=True)
