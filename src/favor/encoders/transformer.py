"""Encoders that are a frozen transformer and a way to pool its output into one unit vector a text."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from favor.encoders.backbones import Backbone, compute_device, encode_in_batches, token_ids
from favor.encoders.base import TextEncoder
from favor.foundation.arithmetic import fast_linear_layers
from favor.foundation.errors import UserError
from favor.running.jobs.progress import Progress

Pool = Callable[[Any, torch.Tensor], torch.Tensor]  # (model output, mask [b, t]) -> [b, d]


class TransformerEncoder(TextEncoder):
    """Tokens -> transformer -> ``pool`` -> unit row. ``precision`` is float32, or bfloat16 for the transformer."""

    def __init__(
        self, backbone: Backbone, pool: Pool, dimension: int, maximum_tokens: int, batch_size: int, precision: str
    ) -> None:
        if precision not in ("float32", "bfloat16"):
            raise UserError(f"encoder option 'precision' is '{precision}'; use float32 or bfloat16")
        self.device = compute_device()
        self.backbone, self.pool, self.dimension = backbone, pool, dimension
        self.model = backbone.model.to(self.device).eval().requires_grad_(False)
        self.maximum_tokens = min(maximum_tokens, backbone.longest_input)
        self.batch_size = batch_size
        self.precision = precision

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        with fast_linear_layers(self.model, self.precision):
            return encode_in_batches(
                texts,
                lambda chosen: token_ids(self.backbone.tokenizer, chosen, self.maximum_tokens, self),
                self._forward,
                self.dimension,
                self.backbone.padding_id,
                self.batch_size,
                progress,
            )

    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        tokens, mask = tokens.to(self.device), mask.to(self.device)
        half = self.precision == "bfloat16"
        with torch.autocast(device_type=self.device.type, dtype=torch.bfloat16, enabled=half):
            output = self.model(input_ids=tokens, attention_mask=mask)
        return functional.normalize(self.pool(output, mask).float(), dim=-1)
