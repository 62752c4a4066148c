"""FedDPA's gate: how much of the global adapter an input gets.

g = clip(coefficient * mean_s cos(h(x), h(s)), 0, 1) over a client's reference texts s, with h the final state at the
last token under the global adapter. "prefix" takes h at the end of a text's first prefix, which is all that generation
sees of a text; "text" at its end (the released code).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from favor.foundation.errors import UserError
from favor.foundation.seeds import numpy_generator
from favor.lm.base import BaseModel
from favor.lm.batches import Piece
from favor.lm.generation import last_token_states
from favor.lm.lora import LoraState
from favor.lm.settings import LoraSettings


def language_model_text(prompt: str, text: str) -> str:
    """Return what the language model reads: the writing prompt, where there is one, then the text."""
    return f"{prompt}\n\n{text}" if prompt else text


def gate_values(states: np.ndarray, references: np.ndarray, coefficient: float) -> np.ndarray:
    """Return the gates [n] of ``states`` [n, d] against ``references`` [m, d] (docstring of the module)."""
    cosines = _unit(states) @ _unit(references).T
    return np.asarray(np.clip(coefficient * cosines.mean(axis=1), 0.0, 1.0), dtype=np.float32)


def reference_states(
    base: BaseModel,
    lora: LoraSettings,
    shared: LoraState,
    texts: pd.DataFrame,
    client: str,
    mixture: Mapping[str, Any],
    cfg: Mapping[str, Any],
    seed: int,
) -> np.ndarray:
    """Return the states [m, d] of a client's reference texts: at most ``mixture.references`` of those it trains on.

    Which texts is drawn once a seed and client (stream "gate references").
    """
    own = texts[(texts["client"] == client) & (texts["allocated_words"] > 0)].sort_values("document_id")
    order = numpy_generator(seed, "gate references", client).permutation(len(own))[: mixture["references"]]
    chosen = own.iloc[sorted(order.tolist())]
    return last_token_states(base, lora, shared, _sequences(base, chosen, "training_text", mixture, cfg))


def piece_gates(
    base: BaseModel,
    lora: LoraSettings,
    shared: LoraState,
    pieces: Sequence[Piece],
    texts: pd.DataFrame,
    client: str,
    mixture: Mapping[str, Any],
    cfg: Mapping[str, Any],
    seed: int,
) -> np.ndarray:
    """Return the gate of every training piece [n]: its context is its prefix, where ``states`` is "prefix"."""
    references = reference_states(base, lora, shared, texts, client, mixture, cfg, seed)
    whole = mixture["states"] == "text"
    sequences = [(piece.tokens if whole else piece.tokens[: piece.response_start]).tolist() for piece in pieces]
    return gate_values(last_token_states(base, lora, shared, sequences), references, mixture["coefficient"])


def client_gate(
    base: BaseModel,
    lora: LoraSettings,
    shared: LoraState,
    texts: pd.DataFrame,
    client: str,
    mixture: Mapping[str, Any],
    cfg: Mapping[str, Any],
    seed: int,
) -> dict[str, np.ndarray]:
    """Return what a client keeps of its gate: ``value`` [1], the mean over its validation texts, and ``references``.

    Raises ``UserError`` where the client has no validation text.
    """
    references = reference_states(base, lora, shared, texts, client, mixture, cfg, seed)
    held_out = texts[(texts["client"] == client) & (texts["split"] == "validation")].sort_values("document_id")
    sequences = _sequences(base, held_out, "text", mixture, cfg)
    if not sequences:
        raise UserError(f"{client}: no validation text for the gate; give the author more posts")
    gates = gate_values(last_token_states(base, lora, shared, sequences), references, mixture["coefficient"])
    return {"value": np.asarray([gates.mean()], dtype=np.float32), "references": references}


def _sequences(
    base: BaseModel, texts: pd.DataFrame, column: str, mixture: Mapping[str, Any], cfg: Mapping[str, Any]
) -> list[list[int]]:
    length = cfg["prefix_tokens"] if mixture["states"] == "prefix" else cfg["training"]["max_length"]
    encoded = [
        base.tokenizer.encode(language_model_text(prompt, text))[:length]
        for prompt, text in zip(texts["prompt"], texts[column], strict=True)
    ]
    return [tokens for tokens in encoded if tokens]


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-8))
