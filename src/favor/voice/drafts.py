"""What a voice is trained to answer: neutral drafts of a writer's passages, or instructions, by the base model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from favor.federation.local import Cut
from favor.federation.settings import StagePieces
from favor.foundation.errors import UserError
from favor.foundation.parquet import read_parquet, write_parquet
from favor.inference.chat import ChatTokens
from favor.inference.generation import GenerationRequest, generate
from favor.lm.base import BaseModel
from favor.lm.batches import Piece
from favor.lm.lora import LoraState
from favor.lm.settings import Lora
from favor.running.jobs.progress import Progress
from favor.scores.copying import word_list
from favor.statistics.copied_spans import KnownTexts
from favor.voice.folder import VoiceFolder
from favor.voice.habits import FUNCTION_WORDS
from favor.voice.own_texts import WRITER
from favor.voice.requests import Request
from favor.voice.tables import VOICE_DRAFTS
from favor.voice.texts import WORDS

COPIED = 5  # words in a row of the original that make a draft a copy
NEW_TOKENS = 240  # of a draft or a rewriting at most
CHUNK = 64  # passages that are drafted before they are saved
FEWEST = 20  # drafts to train on, and the fewest words of a passage
_BREAKS = re.compile(r"(?<=[.!?…])\s+|\n\s*\n")
REASONS = {
    "copied": f"repeat {COPIED} words in a row",
    "endless": f"do not end within {NEW_TOKENS} tokens",
    "strayed": "have too few of its words of content",
    "short": "have too few words",
    "long": "have more words than it",
    "large": "do not fit a training piece together with it",
}


def passages_of(text: str, words: int) -> list[str]:
    """Cut ``text`` at ends of sentences and paragraphs into passages of at most ``words`` words.

    A sentence that is longer is one passage. A passage is as it stands in the text; only the white space
    between two is left out.
    """
    found: list[str] = []
    start = end = 0
    for stop in (*(each.start() for each in _BREAKS.finditer(text)), len(text)):
        if end > start and WORDS.count(text[start:stop]) > words:
            found.append(text[start:end].strip())
            start = end
        end = stop
    found.append(text[start:].strip())
    return [passage for passage in found if passage]


def make_drafts(
    folder: VoiceFolder, base: BaseModel, texts: pd.DataFrame, request: Request, longest: int
) -> pd.DataFrame:
    """Return the table ``voice_drafts`` of all passages of ``texts``, as far as it is not there yet.

    What ``request`` has the base make is greedy. ``texts``: the table ``client_texts``. ``longest``: tokens of a
    training piece. Raises ``UserError``, before
    anything is made, for a base that cannot be asked so, or names no end.
    """
    if not base.end_ids:
        raise UserError(f"model '{base.source}': names no end token, and this task needs one; take another base")
    if request.templated and not ChatTokens(base).templated:
        raise UserError(
            f"model '{base.source}': has no chat template, and instructions need one; take a base that follows "
            "instructions (--base), or another --task"
        )
    rows = [
        (document, number, passage)
        for document, text in zip(texts["document_id"], texts["text"], strict=True)
        for number, passage in enumerate(passages_of(text, request.words))
        if WORDS.count(passage) >= FEWEST
    ]
    done = read_parquet(folder.drafts, VOICE_DRAFTS) if folder.drafts.is_file() else None
    progress = Progress(f"{request.given}s", len(rows), "passages")
    progress.skip(0 if done is None else len(done))
    while done is None or len(done) < len(rows):
        part = rows[0 if done is None else len(done) :][:CHUNK]
        asked = [request.make + passage for *_, passage in part]
        made = ask(base, Lora(), {"base": None}, request.system, asked)["base"]
        found = pd.DataFrame(
            [
                (*row, draft, refused(request, row[2], draft, ended) or ("large" if tokens > longest else ""))
                for row, (draft, ended) in zip(part, made, strict=True)
                for tokens in [len(_piece(base, request, draft, row[2])[0])]
            ],
            columns=VOICE_DRAFTS.names,
        ).astype({"passage": "int32"})
        done = found if done is None else pd.concat([done, found], ignore_index=True)
        write_parquet(done, folder.drafts, VOICE_DRAFTS)
        progress.update(len(part))
    progress.close()
    return done


def refused(request: Request, original: str, draft: str, ended: bool) -> str:
    """Return why a draft cannot be trained on (a key of ``REASONS``), or ""."""
    words = word_list(draft, "unicode")
    if KnownTexts({WRITER: [word_list(original, "unicode")]}, COPIED).overlap(WRITER, words).longest_own:
        return "copied"
    if not ended:
        return "endless"
    content = _content(original)
    if len(content & _content(draft)) < request.content * len(content):
        return "strayed"
    if len(words) < request.fewest * WORDS.count(original):
        return "short"
    return "long" if len(words) > request.most * WORDS.count(original) else ""


def _content(text: str) -> set[str]:
    return set(word_list(text, "unicode")) - FUNCTION_WORDS


def draft_lines(drafts: pd.DataFrame, splits: pd.Series, request: Request) -> Iterator[str]:
    """Yield how many drafts there are and how many were refused, by reason; ``splits``: by document.

    Raises ``UserError`` where too few are left to train on.
    """
    good = drafts[drafts["refused"] == ""]
    kept = Counter(good["document_id"].map(splits))
    reasons = ", ".join(
        f"{number} {REASONS[reason]}" for reason, number in Counter(drafts["refused"]).most_common() if reason
    )
    yield f"{request.given}s: {len(good)} of {len(drafts)} passages" + (f"; refused: {reasons}" if reasons else "")
    if kept["train"] < FEWEST or not kept["validation"] or not kept["test"]:
        raise UserError(
            f"the base model made {kept['train']} {request.given}s to train on, {kept['validation']} to validate and "
            f"{kept['test']} to test, and {FEWEST}, 1 and 1 are needed (refused: {reasons or 'none'}); take a larger "
            "base (--base), or give more text"
        )


def ask(
    base: BaseModel, lora: Lora, states: dict[str, LoraState | None], system: str, asked: Sequence[str]
) -> dict[str, list[tuple[str, bool]]]:
    """Return by model its greedy answer to every text of ``asked``, and whether it came to an end.

    Raises ``UserError`` where a text does not fit the model's context.
    """
    chat, new = ChatTokens(base), min(NEW_TOKENS, base.context // 2)
    requests = [
        GenerationRequest("passage", chat.encode(system, text), state) for state in states.values() for text in asked
    ]
    found = generate(base, lora, requests, new)
    answers = [(base.tokenizer.decode(tokens).strip(), len(tokens) < new) for tokens in found]
    return {name: answers[place * len(asked) :][: len(asked)] for place, name in enumerate(states)}


def answering_cut(drafts: pd.DataFrame, request: Request) -> Cut:
    """Return what cuts a writer's documents into pieces: the request with what is given, the passage, and the end.

    The request is context alone.
    """
    good = drafts[drafts["refused"] == ""]

    def cut(base: BaseModel, texts: pd.DataFrame, column: str, _settings: StagePieces) -> list[Piece]:
        pieces = []
        for row in good[good["document_id"].isin(texts.loc[texts[column] != "", "document_id"])].itertuples():
            tokens, start = _piece(base, request, str(row.draft), str(row.text))
            pieces.append(Piece(np.asarray(tokens, dtype=np.int32), start, str(row.document_id)))
        return pieces

    return cut


def _piece(base: BaseModel, request: Request, draft: str, text: str) -> tuple[list[int], int]:
    """The tokens of a training piece, and where the passage ``text`` begins in them."""
    asked = ChatTokens(base).encode(request.ask, draft)
    return [*asked, *base.tokenizer.encode(text), base.end_ids[0]], len(asked)
