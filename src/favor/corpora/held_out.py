"""Held-out texts of any authors of a roster: of those who take part in an experiment, and of those who do not."""

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
    authors = roster[roster["client"].isin(list(clients))].set_index("author")["client"]
    batches = stream_documents(documents, ("author", "document_id", "prompt", "text"))
    texts = pd.concat([batch[batch["author"].isin(authors.index)] for batch in batches], ignore_index=True)
    test = splits.loc[(splits["split"] == "test") & ~splits["document_id"].isin(list(left_out)), ["document_id"]]
    texts = texts.merge(test, on="document_id", validate="one_to_one")
    texts = texts.assign(client=texts["author"].map(authors)).sort_values(["client", "document_id"])
    parts = []
    for client, own in texts.groupby("client"):
        order = numpy_generator(seed, "held-out texts", str(client)).permutation(len(own))
        parts.append(own.iloc[sorted(order[:most].tolist())])
    if without := sorted(set(clients) - set(texts["client"])):
        unique = " without a near duplicate" * bool(left_out)
        raise UserError(f"{without[0]} has no test text{unique}; raise 'minimum_posts' of its corpus")
    return pd.concat(parts, ignore_index=True)[["client", "document_id", "prompt", "text"]]
