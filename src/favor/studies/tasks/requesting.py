"""Requests of an experiment's clients: what the untouched base makes of their passages."""

import pandas as pd

from favor.federation.schemas import REQUESTS
from favor.foundation.errors import UserError
from favor.inference.chat import ChatTokens
from favor.lm.base import BaseModel
from favor.running.jobs.progress import Progress
from favor.studies.tasks.drafting import check_base, drafted, long_passages, piece
from favor.studies.tasks.requests import Request, refusals

CHUNK = 256  # passages between two lines of progress


def make_requests(base: BaseModel, texts: pd.DataFrame, request: Request, longest: int) -> pd.DataFrame:
    """Return the table ``requests`` of all passages of ``texts`` (``client_texts``), refused ones included.

    Of training texts the part that is trained on is cut into passages, of the others the whole. ``longest``: tokens
    of a training piece. Raises ``UserError`` for a base that cannot be asked, texts that answer a writing prompt, and
    a client that is left without a request to train on.
    """
    check_base(base, request)
    if (texts["prompt"] != "").any():
        raise UserError("task: texts that answer writing prompts are only continued; set it to continue")
    passages = [
        (row.client, row.document_id, number, row.split, row.topic, passage)
        for row in texts.sort_values(["client", "document_id"]).itertuples()
        for number, passage in long_passages(str(row.training_text if row.split == "train" else row.text), request)
    ]
    progress = Progress(f"{request.given}s", len(passages), "passages")
    made: list[tuple[str, str]] = []
    for start in range(0, len(passages), CHUNK):
        part = [passage for *_, passage in passages[start : start + CHUNK]]
        made += drafted(base, request, part, longest)
        progress.update(len(part))
    progress.close()
    chat, opening = ChatTokens(base), base.opening
    rows = []
    for passage, (draft, reason) in zip(passages, made, strict=True):
        tokens, start = piece(chat, request, draft, passage[-1])
        # What a model's texts begin with is put before every prompt where it is read.
        begin = len(opening) if tuple(tokens[: len(opening)]) == opening else 0
        rows.append((*passage, draft, reason, tokens[begin:start], tokens[start:]))
    table = pd.DataFrame(rows, columns=REQUESTS.names).astype({"passage": "int32"})
    train = table[table["split"] == "train"]
    trained = texts.loc[texts["training_text"] != "", "client"]
    without = sorted(set(trained) - set(train.loc[train["refused"] == "", "client"]))
    if without:
        own = train.loc[train["client"] == without[0], "refused"]
        reasons = refusals(own) or "none; its texts have no passage that is long enough"
        raise UserError(
            f"task: {without[0]} (of {len(without)} such clients) has no {request.given} to train on (refused: "
            f"{reasons}); take a base model that follows instructions, or give its clients more text"
        )
    return table
