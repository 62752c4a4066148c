"""Style targets: each client's own anchor in the style space (Eq. author_target). They never leave the client."""

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError


def style_targets(source_embeddings: pd.DataFrame, texts: pd.DataFrame, clients: list[str]) -> dict[str, np.ndarray]:
    """Return q_i = norm(mean z(x)) over the client's reference set, all the texts it trains on, as float32 [d].

    ``source_embeddings`` and ``texts`` are the tables ``source_embeddings`` and ``client_texts``.
    """
    references = texts.loc[texts["allocated_words"] > 0, ["client", "document_id"]]
    train = source_embeddings[source_embeddings["kind"] == "train"]
    joined = references.merge(train, left_on=["client", "document_id"], right_on=["client", "item"])
    targets = {}
    for client in clients:
        vectors = joined.loc[joined["client"] == client, "embedding"]
        if vectors.empty:
            raise UserError(f"{client}: no reference text has a style embedding; raise its allocation or its posts")
        mean = np.stack(list(vectors)).astype(np.float64).mean(axis=0)
        norm = np.linalg.norm(mean)
        if norm == 0:
            raise UserError(f"{client}: its style embeddings cancel out; use another style encoder")
        targets[client] = (mean / norm).astype(np.float32)
    return targets
