"""Training on answers: pieces of a request as context and an author's own passage, in place of texts continued."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from favor.federation.local import Cut, continued
from favor.federation.method import POOLED
from favor.federation.settings import StagePieces
from favor.federation.tables import REQUESTS
from favor.foundation.parquet import read_parquet
from favor.foundation.row_groups import read_row_groups
from favor.lm.base import BaseModel
from favor.lm.batches import Piece


def cut_of(requests: Sequence[str], clients: Sequence[str]) -> Cut:
    """Return what cuts the texts of ``clients`` into pieces; ``requests``: the table of that name, or no file."""
    if not requests:
        return continued
    if list(clients) == [POOLED]:
        return answering(read_parquet(requests[0], REQUESTS))
    return answering(read_row_groups(requests[0], REQUESTS, "client", clients))


def answering(requests: pd.DataFrame) -> Cut:
    """Return what makes a piece of every request of a document: its answer is supervised, end token included.

    ``requests``: the table of that name. A request is whole, so neither ``prefix_tokens`` nor ``pieces`` cuts it.
    """
    good = requests[requests["refused"] == ""]

    def cut(base: BaseModel, texts: pd.DataFrame, column: str, _settings: StagePieces) -> list[Piece]:
        wanted = texts.loc[texts[column] != "", ["client", "document_id"]]
        chosen = good.merge(wanted, on=["client", "document_id"], validate="many_to_one")
        pieces = []
        chosen = chosen.sort_values(["client", "document_id", "passage"])
        columns = (chosen[name] for name in ("document_id", "prompt_tokens", "answer_tokens"))
        for document, asked, answer in zip(*columns, strict=True):
            before = [*base.opening, *asked]
            pieces.append(Piece(np.array([*before, *answer], dtype=np.int32), len(before), str(document)))
        return pieces

    return cut
