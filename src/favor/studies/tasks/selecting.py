"""Which requests of held-out passages become prompts. No torch."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from favor.corpora.copies import shares_a_run
from favor.corpora.schemas import PROMPTS
from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.studies.settings import RequestSelection
from favor.studies.tasks.requests import Request, refusals


def select_requests(
    requests: pd.DataFrame,
    request: Request,
    settings: RequestSelection,
    seed: int,
    left_out: Collection[str] = (),
    trained: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the table ``prompts`` of every client for the training seed ``seed``: requests of held-out passages.

    A client's documents that have a passage are tried in an order drawn by (``seed``, client) from their ids in order,
    in which they give prompts to continue too where each has one. A document gives its first passage of
    ``minimum_gold_tokens`` to ``maximum_gold_tokens`` tokens, which is the gold. The prompt's text is the draft.
    ``left_out``: as of :func:`favor.corpora.prompts.select_prompts`. ``trained``: as there, but of a passage: only that
    is read. Raises ``UserError`` where a client has no prompt.
    """
    held_out = requests[requests["split"] == "test"]
    lengths = held_out["answer_tokens"].str.len() - 1  # without the end
    fits = lengths.between(settings.minimum_gold_tokens, settings.maximum_gold_tokens)
    good = held_out[fits & (held_out["refused"] == "") & ~held_out["document_id"].isin(left_out)]
    rows = []
    for client, own in good.groupby("client"):
        documents = sorted(set(held_out.loc[held_out["client"] == client, "document_id"]))
        made = 0
        for place in numpy_generator(seed, "prompts", str(client)).permutation(len(documents)):
            passages = own[own["document_id"] == documents[place]].sort_values("passage")
            fresh = [row for row in passages.itertuples() if trained is None or not shares_a_run(row.text, trained)]
            if fresh and made < settings.per_client:
                made += 1
                row = fresh[0]
                name = f"{client}-{seed}-{made}"
                given = (row.draft, row.prompt_tokens, row.text, len(row.answer_tokens) - 1)
                rows.append((client, name, row.document_id, row.topic, *given))
    found = pd.DataFrame(rows, columns=PROMPTS.names).astype({"gold_tokens": "int32"})
    without = sorted(set(requests["client"]) - set(found["client"]))
    if without:
        reasons = refusals(held_out.loc[held_out["client"] == without[0], "refused"]) or "none"
        raise UserError(
            f"prompts: {without[0]} (of {len(without)} such clients) has no held-out {request.given} that serves "
            f"(refused: {reasons}); take a base model that follows instructions, or lower 'prompts.minimum_gold_tokens'"
        )
    return found
