"""Encoder kind ``stylometry``: the hand-made style space that the workflow fitted into ``folder``.

N-gram TF-IDF, function words and structure, fitted on source-train texts only.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from favor.corpora.style_features import STRUCTURE, VERIFIER_WORDS, WORD, function_word_rates, structure_rates
from favor.encoders.base import TextEncoder, checked_options, trained_folder
from favor.encoders.settings import Stylometry
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.foundation.vectors import unit_rows
from favor.foundation.words import document_words
from favor.running.jobs.progress import Progress

FORMAT = "favor-stylometry-1"
_BATCH = 256


class StylometryEncoder(TextEncoder):
    """Four blocks, each of unit L2 length, whose concatenation is scaled to unit length.

    Character 2-4-gram TF-IDF, word 1-2-gram TF-IDF, function-word rates and structure rates (both standardised by the
    fitting texts).
    """

    def __init__(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.state, self.arrays = state, arrays
        words = state["settings"]["words"]
        self.vectorizers = [_fitted(kind, words, state[kind], arrays[kind]) for kind in ("character", "word")]
        self.dimension = sum(len(state[kind]) for kind in ("character", "word")) + len(VERIFIER_WORDS) + len(STRUCTURE)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        distinct = sorted(set(texts))
        rows = np.zeros((len(distinct), self.dimension), dtype=np.float32)
        for start in range(0, len(distinct), _BATCH):
            part = distinct[start : start + _BATCH]
            rows[start : start + len(part)] = self._blocks(part)
            if progress is not None:
                progress.update(len(part))
        position = {text: index for index, text in enumerate(distinct)}
        return rows[np.array([position[text] for text in texts], dtype=np.int64)]

    def _blocks(self, texts: list[str]) -> np.ndarray:
        blocks = [vectorizer.transform(texts).toarray() for vectorizer in self.vectorizers]
        for name, rates in (("function", function_word_rates), ("structure", structure_rates)):
            raw = np.stack([rates(text) for text in texts])
            blocks.append((raw - self.arrays[f"{name}_mean"]) / self.arrays[f"{name}_deviation"])
        return unit_rows(np.concatenate([unit_rows(block) for block in blocks], axis=1))


def fit_stylometry(texts: Sequence[str], settings: Stylometry, folder: Path) -> StylometryEncoder:
    """Fit the space on ``texts`` (source-train texts only), save it into ``folder`` and return it.

    Files: ``encoder.json`` (settings, n-grams) and ``encoder.safetensors`` (idf, means, deviations).
    """
    if len(texts) < 2:
        raise UserError(f"stylometry needs at least 2 texts to be fitted on, found {len(texts)}; add training texts")
    ordered = sorted(texts)
    state: dict[str, Any] = {"format": FORMAT, "settings": settings.model_dump(), "fitted_texts": len(ordered)}
    arrays: dict[str, np.ndarray] = {}
    for kind, limit in (("character", settings.character_features), ("word", settings.word_features)):
        options = {"max_features": limit, "min_df": min(settings.minimum_texts, len(ordered))}
        vectorizer = _vectorizer(kind, settings.words, **options)
        try:
            vectorizer.fit(ordered)
        except ValueError as error:
            raise UserError(f"stylometry: no {kind} n-gram can be kept ({error}); lower 'minimum_texts'") from None
        state[kind] = vectorizer.get_feature_names_out().tolist()
        arrays[kind] = vectorizer.idf_
    for name, rates in (("function", function_word_rates), ("structure", structure_rates)):
        raw = np.stack([rates(text) for text in ordered])
        deviation = raw.std(axis=0)
        arrays[f"{name}_mean"] = raw.mean(axis=0)
        arrays[f"{name}_deviation"] = np.where(deviation > 1e-12, deviation, 1.0)  # a constant feature stays at 0
    write_safetensors(arrays, folder / "encoder.safetensors", {"format": FORMAT})
    write_json(state, folder / "encoder.json")
    return StylometryEncoder(state, arrays)


def _vectorizer(kind: str, words: str, **options: Any) -> TfidfVectorizer:
    if kind == "character":
        return TfidfVectorizer(analyzer="char", ngram_range=(2, 4), lowercase=False, sublinear_tf=True, **options)
    if words == "paper":
        tokens: dict[str, Any] = {"token_pattern": WORD.pattern}
    else:
        tokens = {"token_pattern": None, "tokenizer": document_words(words).split}
    return TfidfVectorizer(**tokens, ngram_range=(1, 2), sublinear_tf=True, **options)


def _fitted(kind: str, words: str, grams: list[str], idf: np.ndarray) -> TfidfVectorizer:
    vectorizer = _vectorizer(kind, words, vocabulary=grams)
    vectorizer.idf_ = idf
    return vectorizer


DEFAULTS: dict[str, Any] = {"folder": ""}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Option ``folder``: a fitted space elsewhere; it overrides the workflow's own."""
    place = trained_folder("stylometry", checked_options("stylometry", options, DEFAULTS)["folder"], folder)
    state = read_json(place / "encoder.json")
    if state.get("format") != FORMAT:
        raise UserError(f"{place / 'encoder.json'}: not a stylometry space of format {FORMAT}; delete it and run again")
    arrays, _ = read_safetensors(place / "encoder.safetensors")
    return StylometryEncoder(state, arrays)
