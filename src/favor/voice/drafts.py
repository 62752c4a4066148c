"""What a voice is trained to answer: neutral drafts of a writer's passages, or instructions, by the base model."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from favor.federation.local import Cut
from favor.federation.settings import StagePieces
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.inference.chat import ChatTokens
from favor.lm.base import BaseModel
from favor.lm.tasks import Piece
from favor.running.jobs.progress import Progress
from favor.studies.tasks.drafting import drafted, long_passages, piece
from favor.studies.tasks.requests import Request, refusals
from favor.voice.folder import VoiceFolder
from favor.voice.schemas import VOICE_DRAFTS

CHUNK = 64  # passages that are drafted before they are saved
FEWEST = 20  # drafts to train on


def make_drafts(
    folder: VoiceFolder, base: BaseModel, texts: pd.DataFrame, request: Request, longest: int
) -> pd.DataFrame:
    """Return the table ``voice_drafts`` of all passages of ``texts``, as far as it is not there yet.

    What ``request`` has the base make is greedy. ``texts``: the table ``client_texts``. ``longest``: tokens of a
    training piece.
    """
    rows = [
        (document, number, passage)
        for document, text in zip(texts["document_id"], texts["text"], strict=True)
        for number, passage in long_passages(text, request)
    ]
    done = read_parquet(folder.drafts, VOICE_DRAFTS) if folder.drafts.is_file() else VOICE_DRAFTS.empty()
    progress = Progress(f"{request.given}s", len(rows), "passages")
    progress.skip(len(done))
    while len(done) < len(rows):
        part = rows[len(done) :][:CHUNK]
        made = drafted(base, request, [passage for *_, passage in part], longest)
        found = [(*row, *draft) for row, draft in zip(part, made, strict=True)]
        done = pd.concat([done, pd.DataFrame(found, columns=done.columns).astype(done.dtypes)], ignore_index=True)
        write_parquet(done, folder.drafts, VOICE_DRAFTS)
        progress.update(len(part))
    progress.close()
    return done


def draft_lines(drafts: pd.DataFrame, splits: pd.Series, request: Request) -> Iterator[str]:
    """Yield how many drafts there are and how many were refused, by reason; ``splits``: by document.

    Raises ``UserError`` where too few are left to train on.
    """
    good = drafts[drafts["refused"] == ""]
    kept = Counter(good["document_id"].map(splits))
    reasons = refusals(drafts["refused"])
    yield f"{request.given}s: {len(good)} of {len(drafts)} passages" + (f"; refused: {reasons}" if reasons else "")
    if kept["train"] < FEWEST or not kept["validation"] or not kept["test"]:
        raise UserError(
            f"the base model made {kept['train']} {request.given}s to train on, {kept['validation']} to validate and "
            f"{kept['test']} to test, and {FEWEST}, 1 and 1 are needed (refused: {reasons or 'none'}); take a larger "
            "base (--base), or give more text"
        )


def answering_cut(drafts: pd.DataFrame, request: Request) -> Cut:
    """Return what cuts a writer's documents into pieces: the request with what is given, the passage, and the end.

    The request is context alone.
    """
    good = drafts[drafts["refused"] == ""]

    def cut(base: BaseModel, texts: pd.DataFrame, column: str, _settings: StagePieces) -> list[Piece]:
        chat, pieces = ChatTokens(base), []
        for row in good[good["document_id"].isin(texts.loc[texts[column] != "", "document_id"])].itertuples():
            tokens, start = piece(chat, request, str(row.draft), str(row.text))
            pieces.append(Piece(np.asarray(tokens, dtype=np.int32), start, str(row.document_id)))
        return pieces

    return cut
