"""Dropout masks of LoRA inputs that do not depend on how clients are stacked, padded or recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from favor.foundation.seeds import derive_seed

_PURPOSE = "adapter dropout"


@dataclass(frozen=True)
class MaskEntry:
    """One micro-batch of one client in a forward pass: its stream, its first row, and its rows' own lengths.

    ``part``: the rows that run here, where the micro-batch is cut; their masks are those they have in the whole.
    """

    stage_seed: int
    counter: int
    first_row: int
    lengths: tuple[int, ...]
    part: slice = field(default_factory=lambda: slice(None))

    def rows(self) -> list[tuple[int, int]]:
        """Return (tokens of the micro-batch before it, its own tokens) of every row that runs here."""
        return [(sum(self.lengths[:number]), self.lengths[number]) for number in range(len(self.lengths))[self.part]]


def draw_mask(stage_seed: int, counter: int, module: int, tokens: int, inputs: int, rate: float) -> torch.Tensor:
    """Return the boolean CPU mask [tokens, inputs] for the unpadded tokens of one micro-batch, row after row.

    The stream is named by (stage seed of the client, number of the micro-batch in the stage, module), so the same
    mask comes back in any stack, at any padding and in a recomputation. 16 random bits decide an entry, so ``rate``
    is met to 1/65536.
    """
    count = tokens * inputs
    bits = np.random.SFC64(derive_seed(stage_seed, _PURPOSE, counter, module))
    draws = bits.random_raw((count + 3) // 4).view(np.uint16)[:count]
    return torch.from_numpy(draws >= round(rate * 65536)).view(tokens, inputs)


class DropoutMasks:
    """The masks of one forward pass over rows [rows, length] of K clients: a ``MaskSource`` of the stack."""

    def __init__(
        self, entries: Sequence[MaskEntry], rows: int, length: int, clients: int, rate: float, device: torch.device
    ) -> None:
        self.entries, self.rows, self.length, self.clients = entries, rows, length, clients
        self.rate, self.device = rate, device
        self._places: torch.Tensor | None = None

    def __call__(self, module: int, inputs: int) -> torch.Tensor:
        """Return the mask [K, rows / K * length, inputs] of a module; padding is masked out.

        It is float32 on a CPU, where that is fastest to multiply by, and boolean on a GPU.
        """
        mask = self.on_processor(module, inputs) if self.device.type == "cpu" else self.on_accelerator(module, inputs)
        return mask.view(self.clients, -1, inputs)

    def on_processor(self, module: int, inputs: int) -> torch.Tensor:
        """Return the mask [rows, length, inputs] of :func:`draw_mask`'s streams, every entry written once."""
        mask = torch.empty(self.rows, self.length, inputs)
        filled = 0
        for entry in self.entries:
            tokens = sum(entry.lengths)
            draws = draw_mask(entry.stage_seed, entry.counter, module, tokens, inputs, self.rate)
            for row, (start, length) in enumerate(entry.rows(), start=entry.first_row):
                mask[filled:row] = 0
                mask[row, :length] = draws[start : start + length]
                mask[row, length:] = 0
                filled = row + 1
        mask[filled:] = 0
        return mask

    def on_accelerator(self, module: int, inputs: int) -> torch.Tensor:
        """Return the mask [rows, length, inputs] of the same streams drawn by torch, in few kernel launches."""
        if self._places is None:
            places = [
                np.arange(length) + row * self.length
                for entry in self.entries
                for row, (_, length) in enumerate(entry.rows(), start=entry.first_row)
            ]
            self._places = torch.from_numpy(np.concatenate(places)).to(self.device)
        draws = torch.empty(len(self._places), inputs, device=self.device)
        generator = torch.Generator(self.device)
        start = 0
        for entry in self.entries:
            generator.manual_seed(derive_seed(entry.stage_seed, _PURPOSE, entry.counter, module))
            # Drawn for the whole micro-batch, for a GPU's stream is not that of a longer one cut short.
            whole = torch.empty(sum(entry.lengths), inputs, device=self.device).uniform_(generator=generator)
            rows = entry.rows()
            end = start + sum(length for _, length in rows)
            draws[start:end] = whole[rows[0][0] : rows[-1][0] + rows[-1][1]]
            start = end
        mask = torch.zeros(self.rows * self.length, inputs, dtype=torch.bool, device=self.device)
        return mask.index_copy_(0, self._places, draws >= self.rate).view(self.rows, self.length, inputs)
