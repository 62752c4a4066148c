"""Encoders that are a frozen transformer and a way to pool its output into one unit vector per text."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from favor.encoders.backbones import Backbone, by_length, compute_device, padded, token_ids
from favor.encoders.base import TextEncoder, check_precision
from favor.foundation.arithmetic import fast_linear_layers
from favor.running.jobs.progress import Progress

Pool = Callable[[Any, torch.Tensor], torch.Tensor]  # (model output, mask [b, t]) -> [b, d]


class TokenEncoder(TextEncoder):
    """Tokens -> ``model`` -> unit row. Of ``options``, precision is the model's."""

    maximum_characters: int | None = None

    def __init__(self, model: Any, backbone: Backbone, dimension: int, options: Mapping[str, Any]) -> None:
        check_precision(options["precision"])
        self.device = compute_device()
        self.backbone, self.dimension = backbone, dimension
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.maximum_tokens = min(options["maximum_tokens"], backbone.longest_input)
        self.batch_size, self.precision = options["batch_size"], options["precision"]

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        distinct = sorted(set(texts))
        ids = token_ids(self.backbone.tokenizer, distinct, self.maximum_tokens, self, self.maximum_characters)

        def rows(chosen: Sequence[int]) -> np.ndarray:
            tokens, mask = padded([ids[index] for index in chosen], self.backbone.padding_id)
            return self._forward(tokens.to(self.device), mask.to(self.device)).float().cpu().numpy()

        with fast_linear_layers(self.model, self.precision):
            return by_length(texts, distinct, list(map(len, ids)), rows, self.dimension, self.batch_size, progress)

    @abstractmethod
    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the rows [b, dimension] of token ids and mask [b, t]."""


class TransformerEncoder(TokenEncoder):
    """Tokens -> transformer -> ``pool`` -> unit row."""

    def __init__(self, backbone: Backbone, pool: Pool, dimension: int, options: Mapping[str, Any]) -> None:
        super().__init__(backbone.model, backbone, dimension, options)
        self.pool = pool

    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        half = self.precision == "bfloat16"
        with torch.autocast(device_type=self.device.type, dtype=torch.bfloat16, enabled=half):
            output = self.model(input_ids=tokens, attention_mask=mask)
        return functional.normalize(self.pool(output, mask).float(), dim=-1)
