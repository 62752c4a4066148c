"""Dropout masks of LoRA inputs that do not depend on how clients are stacked, padded or recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from favor.foundation.seeds import derive_seed
from favor.lm.randomness import torch_generator


@dataclass(frozen=True)
class MaskEntry:
    """One micro-batch of one client in a forward pass: its stream, its first row, and its rows' own lengths."""

    stage_seed: int
    counter: int
    first_row: int
    lengths: tuple[int, ...]


def draw_mask(
    stage_seed: int, counter: int, module: int, tokens: int, inputs: int, rate: float, device: torch.device
) -> torch.Tensor:
    """Return the boolean mask [tokens, inputs] for the unpadded tokens of one micro-batch, row after row.

    The stream is named by (stage seed of the client, number of the micro-batch in the stage, module), so the same
    mask comes back in any stack, at any padding and in a recomputation. On a CPU 16 random bits decide an entry
    (``rate`` is met to 1/65536).
    """
    if device.type == "cpu":
        count = tokens * inputs
        bits = np.random.SFC64(derive_seed(stage_seed, "adapter dropout", counter, module))
        draws = bits.random_raw((count + 3) // 4).view(np.uint16)[:count]
        return torch.from_numpy(draws >= round(rate * 65536)).view(tokens, inputs)
    generator = torch_generator(stage_seed, "adapter dropout", counter, module, device=device)
    return torch.rand(tokens, inputs, generator=generator, device=device) >= rate


class DropoutMasks:
    """The masks of one forward pass over rows [rows, length] of K clients: a ``MaskSource`` of the stack."""

    def __init__(
        self, entries: Sequence[MaskEntry], rows: int, length: int, clients: int, rate: float, device: torch.device
    ) -> None:
        self.entries, self.rows, self.length, self.clients = entries, rows, length, clients
        self.rate, self.device = rate, device

    def __call__(self, module: int, inputs: int) -> torch.Tensor:
        """Return the mask [K, rows / K * length, inputs] of a module; padding is masked out.

        It is float32 on a CPU, where that is fastest to multiply by, and boolean on a GPU.
        """
        dtype = torch.float32 if self.device.type == "cpu" else torch.bool
        mask = torch.empty(self.rows, self.length, inputs, dtype=dtype, device=self.device)
        filled = 0
        for entry in self.entries:
            tokens = sum(entry.lengths)
            draws = draw_mask(entry.stage_seed, entry.counter, module, tokens, inputs, self.rate, self.device)
            start = 0
            for row, length in enumerate(entry.lengths, start=entry.first_row):
                mask[filled:row] = 0
                mask[row, :length] = draws[start : start + length]
                mask[row, length:] = 0
                filled, start = row + 1, start + length
        mask[filled:] = 0
        return mask.view(self.clients, -1, inputs)
