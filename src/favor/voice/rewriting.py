"""``favor voice rewrite``: a draft in the words of every model of a voice, and what rewriting keeps and gains."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from favor.corpora.posts import clean_text
from favor.encoders.base import TextEncoder
from favor.foundation.errors import UserError
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.foundation.vectors import unit_rows
from favor.statistics.bootstrap import mean_draws, observed_and_resampled
from favor.studies.tasks.drafting import ask, passages_of
from favor.studies.tasks.requests import REQUESTS, Request
from favor.voice.folder import VoiceFolder, VoiceModels, open_models
from favor.voice.memorised import PROMPTS, unseen
from favor.voice.position import DRAWS, UNITS, Measured, measured
from favor.voice.schemas import VOICE_CONTINUATIONS
from favor.voice.texts import read_texts

DRAFT = "draft"  # stands for the drafts among models


@dataclass(frozen=True)
class Content:
    """Cosine of a sentence encoder to the draft, the mean over passages: of a rewriting, and of another document's.

    ``chance`` is what no content in common has; 1 would be the draft itself. ``documents``: that passages are of.
    """

    kept: Measured
    chance: float
    documents: int


def run(arguments: argparse.Namespace) -> None:
    """Rewrite the draft that a command line names. Raises ``UserError`` without a voice that was trained to rewrite."""
    folder = VoiceFolder(arguments.voice)
    record = folder.read_record()
    if record.task != "rewrite":
        what = "continue texts" if record.request is None else "write what it is asked for"
        raise UserError(
            f"{folder.path}: was trained to {what}; train one with --task rewrite, or use 'favor voice write'"
        )
    draft = "\n\n".join(read_texts(arguments.draft).values())
    print_texts(rewritten(open_models(folder, record), draft), arguments.json)


def print_texts(found: Mapping[str, str], as_json: bool, begun: str = "") -> None:
    """Print every model's text, behind what it was ``begun`` with, or as JSON."""
    if as_json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for model, text in found.items():
        print(f"--- {model}\n{begun}{text}\n")


def rewritten(models: VoiceModels, draft: str) -> dict[str, str]:
    """Return ``draft`` in the words of every model, by its name, passage by passage.

    Raises ``UserError`` where there is nothing to rewrite, or a passage does not fit the model's context.
    """
    request = REQUESTS["rewrite"]
    parts = passages_of(clean_text(draft), request.words)
    if not parts:
        raise UserError("nothing to rewrite; give a draft")
    found = ask(models.base, models.lora, dict(models.states), request.ask, parts)
    return {name: "\n\n".join(text for text, _ in made) for name, made in found.items()}


def answers(
    models: VoiceModels, texts: pd.DataFrame, drafts: pd.DataFrame, request: Request, seed: int
) -> pd.DataFrame:
    """Return the table ``voice_continuations``: every model answers the same requests of held-out and trained texts."""
    good = drafts[drafts["refused"] == ""]
    chosen = []
    for split, documents in (("test", unseen(texts)), ("train", texts[texts["split"] == "train"])):
        own = good[good["document_id"].isin(documents["document_id"])].reset_index(drop=True)
        order = numpy_generator(seed, "voice prompts", split).permutation(len(own))[: 2 * PROMPTS]
        chosen += [(split, own.iloc[place]) for place in order]
    found = ask(models.base, models.lora, dict(models.states), request.ask, [row["draft"] for _, row in chosen])
    rows = [
        (name, f"{row['document_id']}.{row['passage']}", row["document_id"], split, row["draft"], text)
        for name, made in found.items()
        for (split, row), (text, _) in zip(chosen, made, strict=True)
    ]
    return pd.DataFrame(rows, columns=VOICE_CONTINUATIONS.names)


def with_drafts(made: pd.DataFrame) -> pd.DataFrame:
    """Return ``made`` with the drafts as one more model, ``DRAFT``."""
    drafts = made.drop_duplicates("prompt_id").assign(model=DRAFT)
    return pd.concat([drafts.assign(text=drafts["prompt_text"]), made], ignore_index=True)


def content_kept(made: pd.DataFrame, encoder: TextEncoder, seed: int) -> dict[str, Content]:
    """Return what every model keeps of what it is given; ``made``: the table ``voice_continuations``.

    Documents are drawn, each with all of its passages.
    """
    found = {}
    for model, own in made[made["split"] == "test"].groupby("model"):
        drafts, texts = (_vectors(encoder, own[column].tolist()) for column in ("prompt_text", "text"))
        cosines, document = drafts @ texts.T, own["document_id"].to_numpy()
        others = cosines[document[:, None] != document]
        chance = float(others.mean()) if len(others) else float("nan")
        kept = _mean(np.diag(cosines), document, seed, "content kept")
        found[str(model)] = Content(kept, chance, len(set(document)))
    return found


def voice_gained(
    shares: dict[str, dict[str, float]], drafts: dict[str, dict[str, float]], documents: Mapping[str, str], seed: int
) -> dict[str, Measured]:
    """Return by verifier how far rewriting moves texts from the others (0) to the writer (1), the mean over texts.

    ``shares``, ``drafts``: by verifier the place of every text, by its name, as rewritten and as a draft.
    ``documents``: that texts are of, by their names; they are drawn, each with all of its texts.
    """
    found: dict[str, Measured] = {}
    for verifier, own in shares.items():
        before = drafts.get(verifier, {})
        if both := [name for name in own if name in before]:
            moved = np.array([own[name] - before[name] for name in both])
            found[verifier] = _mean(moved, np.array([documents[name] for name in both]), seed, "voice gained")
    return found


def _mean(values: np.ndarray, document: np.ndarray, seed: int, name: str) -> Measured:
    """Return the mean of ``values`` [n] over the documents [n] that they are of: of fewer than ``UNITS`` no limits."""
    number, cluster = len(set(document)), np.unique(document, return_inverse=True)[1]
    if number < UNITS:
        return Measured(float(values.mean()), math.nan, math.nan)
    return measured(mean_draws(values, cluster, observed_and_resampled(number, derive_seed(seed, name), DRAWS)), number)


def _vectors(encoder: TextEncoder, texts: Sequence[str]) -> np.ndarray:
    return unit_rows(encoder.encode([text or " " for text in texts]).astype(np.float64))
