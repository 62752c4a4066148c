"""Copying family: word 5-grams that an output shares with its author's adaptation texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.words import document_words
from favor.scores.inputs import ScoreInputs, read_settings
from favor.scores.metric import Metric, Score, scores_frame

_REFERENCE = "paper, Cold-Start New-Author Details; word 5-grams, lower-cased"
METRICS = (
    Metric("copy5", "Copy-5", 0.0, 1.0, "lower", _REFERENCE),
    Metric("copy5_rate", "Copy-5 rate", 0.0, 1.0, "lower", f"{_REFERENCE}; share of an output's 5-grams"),
)
LENGTH = 5


def word_grams(text: str, length: int = LENGTH, words: str = "paper") -> list[tuple[str, ...]]:
    """Word n-grams of the lower-cased text, in order, with repeats; ``words``: what counts as a word."""
    found = [word.lower() for word in document_words(words).split(text.replace("’", "'"))]
    return [tuple(found[start : start + length]) for start in range(len(found) - length + 1)]


def copied_share(text: str, known: set[tuple[str, ...]], words: str = "paper") -> float:
    """Share of the text's 5-grams that are in ``known``; 0.0 for a text of fewer than 5 words."""
    grams = word_grams(text, words=words)
    return sum(gram in known for gram in grams) / len(grams) if grams else 0.0


def score(inputs: ScoreInputs, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Share of surviving outputs with a copied 5-gram, and the mean copied share; no settings.

    The adaptation texts are what the client trained on (``training_text`` of its texts). The control ``gold`` shows
    how much an author repeats the own texts without copying.
    """
    read_settings("copying", settings, {})
    if inputs.client_texts is None:
        raise UserError("scores: family 'copying' needs the clients' texts; give the client_texts table")
    known = {
        str(client): {gram for text in texts for gram in word_grams(text, words=inputs.words)}
        for client, texts in inputs.client_texts.groupby("client")["training_text"]
    }
    scores: list[Score] = []
    for run in inputs.runs:
        survivors = run.survivors.assign(text=inputs.texts(run))
        shares = [
            copied_share(text, known[client], inputs.words)
            for client, text in zip(survivors["client"], survivors["text"], strict=True)
        ]
        n = len(shares)
        note = "" if n else "no output passed the filter"
        values = (sum(share > 0 for share in shares) / n, sum(shares) / n) if n else (float("nan"), float("nan"))
        for metric, value in zip(METRICS, values, strict=True):
            scores.append(Score(run.seed, run.method, "", metric.name, "", value, n, note))
    return scores_frame(scores)
