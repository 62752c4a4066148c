"""Encoders that are a frozen transformer and a way to pool its output into one unit vector a text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from favor.encoders.backbones import Backbone, compute_device, encode_in_batches, token_ids
from favor.encoders.base import TextEncoder, check_precision
from favor.foundation.arithmetic import fast_linear_layers
from favor.running.jobs.progress import Progress

Pool = Callable[[Any, torch.Tensor], torch.Tensor]  # (model output, mask [b, t]) -> [b, d]


class TransformerEncoder(TextEncoder):
    """Tokens -> transformer -> ``pool`` -> unit row. Of ``options``, precision is the transformer's."""

    def __init__(self, backbone: Backbone, pool: Pool, dimension: int, options: Mapping[str, Any]) -> None:
        check_precision(options["precision"])
        self.device = compute_device()
        self.backbone, self.pool, self.dimension = backbone, pool, dimension
        self.model = backbone.model.to(self.device).eval().requires_grad_(False)
        self.maximum_tokens = min(options["maximum_tokens"], backbone.longest_input)
        self.batch_size, self.precision = options["batch_size"], options["precision"]

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
