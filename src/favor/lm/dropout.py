"""Dropout masks of LoRA inputs that depend on no device and on no way to stack, pack, cut or recompute.

Draws are counter-based: SplitMix64 (Steele, Lea and Flood, 2014), whose n-th output is a mixture of seed + n * gamma.
Any part of a stream is drawn alone, in any order, anywhere. The steps are whole-number arithmetic modulo 2^64, which
every processor and card does alike.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from favor.foundation.seeds import derive_seed

_PURPOSE = "adapter dropout"
_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
# 64-bit draws mixed at a time on a processor, so that they stay in its cache.
_BLOCK = 1 << 14
_STEPS = np.arange(_BLOCK, dtype=np.uint64) * np.uint64(_GAMMA)
_DRAWS, _SHIFTED = np.empty_like(_STEPS), np.empty_like(_STEPS)


def split_mix(counters: np.ndarray) -> np.ndarray:
    """Mix ``counters`` (uint64: seed + n * gamma), at most ``_BLOCK`` of them, in place and return them."""
    shifted = _SHIFTED[: len(counters)]
    for shift, factor in ((30, _FIRST), (27, _SECOND), (31, 1)):
        np.right_shift(counters, np.uint64(shift), out=shifted)
        np.bitwise_xor(counters, shifted, out=counters)
        if factor != 1:
            np.multiply(counters, np.uint64(factor), out=counters)
    return counters


def _split_mix_on_device(counters: torch.Tensor) -> torch.Tensor:
    """Do the same for an int64 tensor, whose arithmetic wraps around and whose shifts keep the sign."""
    for shift, factor in ((30, _FIRST), (27, _SECOND), (31, 1)):
        counters ^= (counters >> shift) & ((1 << (64 - shift)) - 1)
        if factor != 1:
            counters *= _signed(factor)
    return counters


def _signed(value: int) -> int:
    """Return the int64 with the bits of an uint64."""
    return value - (1 << 64) if value >> 63 else value


def _words(inputs: int) -> int:
    """Return how many 64-bit draws decide a token's inputs, four each."""
    return -(-inputs // 4)


@dataclass(frozen=True)
class MaskEntry:
    """One micro-batch of one client in a forward pass: its stream, its first token there, and its rows' lengths.

    ``part``: the rows that run here, where the micro-batch is cut; their masks are those they have in the whole.
    """

    stage_seed: int
    counter: int
    first: int
    lengths: tuple[int, ...]
    part: slice = field(default_factory=lambda: slice(None))

    @property
    def before(self) -> int:
        """Tokens of the micro-batch in rows before those that run here."""
        return sum(self.lengths[: self.part.start or 0])

    @property
    def tokens(self) -> int:
        """Tokens of the rows that run here."""
        return sum(self.lengths[self.part])


def draw_mask(
    stage_seed: int, counter: int, module: int, tokens: int, inputs: int, rate: float, before: int = 0
) -> torch.Tensor:
    """Return the boolean CPU mask [tokens, inputs] for tokens of one micro-batch, row after row without padding.

    The stream is named by (stage seed of the client, number of the micro-batch in the stage, module). The first token
    has ``before`` tokens of the micro-batch before it. 16 random bits decide an entry, so ``rate`` is met to 1/65536.
    """
    words = _words(inputs)
    first = derive_seed(stage_seed, _PURPOSE, counter, module) + (before * words + 1) * _GAMMA
    kept = np.empty((tokens * words, 4), dtype=bool)
    for start in range(0, len(kept), _BLOCK):
        block = kept[start : start + _BLOCK]
        draws = np.add(_STEPS[: len(block)], np.uint64((first + start * _GAMMA) % (1 << 64)), out=_DRAWS[: len(block)])
        np.greater_equal(split_mix(draws).view(np.int16).reshape(-1, 4), _threshold(rate), out=block)
    return torch.from_numpy(kept).view(tokens, 4 * words)[:, :inputs]


def _threshold(rate: float) -> int:
    """Return the smallest 16 bits, as a signed number, that keep an entry."""
    return round(rate * 65536) - 32768


@torch.library.custom_op("favor::dropped", mutates_args=())
def dropped(rows: torch.Tensor, starts: torch.Tensor, threshold: int) -> torch.Tensor:
    """Return ``rows`` [tokens, inputs] times the mask whose draws of each token begin after the counter ``starts``.

    On a GPU with Triton one kernel draws and multiplies; no mask is written to memory. Elsewhere torch's own operations
    do the same, bit for bit.
    """
    if rows.is_cuda and importlib.util.find_spec("triton") is not None:
        from favor.lm import dropout_kernel

        return dropout_kernel.dropped(rows, starts, threshold)
    steps = torch.arange(1, _words(rows.shape[1]) + 1, device=rows.device) * _signed(_GAMMA)
    draws = _split_mix_on_device(starts.unsqueeze(1) + steps)
    return rows * (draws.view(torch.int16) >= threshold)[:, : rows.shape[1]]


@dropped.register_fake
def _(rows: torch.Tensor, _starts: torch.Tensor, _threshold: int) -> torch.Tensor:
    return torch.empty_like(rows)


@dataclass(frozen=True)
class DrawnMask:
    """A mask on an accelerator: where the draws of each token begin. It is drawn again at every use, and never kept."""

    starts: torch.Tensor
    threshold: int

    def times(self, rows: torch.Tensor) -> torch.Tensor:
        """Return ``rows`` [tokens, inputs] times the mask."""
        return dropped(rows, self.starts, self.threshold)

    def index_select(self, dimension: int, tokens: torch.Tensor) -> DrawnMask:
        """Return the mask of some tokens, as a tensor's method does (``dimension`` 0)."""
        return DrawnMask(self.starts.index_select(dimension, tokens), self.threshold)


class DropoutMasks:
    """The masks of one forward pass over a packed row of ``tokens``: a ``MaskSource`` of the stack.

    Tokens of no entry are padding, which nothing sees.
    """

    def __init__(self, entries: Sequence[MaskEntry], tokens: int, rate: float, device: torch.device) -> None:
        self.entries, self.tokens, self.rate, self.device = entries, tokens, rate, device

    def __call__(self, module: int, inputs: int) -> torch.Tensor | DrawnMask:
        """Return a module's mask for [tokens, inputs]: on a processor of bytes, drawn once and kept."""
        if self.device.type == "cpu":
            return self.on_processor(module, inputs)
        return self.on_accelerator(module, inputs)

    def on_processor(self, module: int, inputs: int) -> torch.Tensor:
        """Return the mask from :func:`draw_mask`, as bytes, which torch multiplies by faster than by booleans."""
        mask = torch.zeros(self.tokens, inputs, dtype=torch.bool)
        for entry in self.entries:
            mask[entry.first : entry.first + entry.tokens] = draw_mask(
                entry.stage_seed, entry.counter, module, entry.tokens, inputs, self.rate, entry.before
            )
        return mask.view(torch.uint8)

    def on_accelerator(self, module: int, inputs: int) -> DrawnMask:
        """Return the same mask, bit for bit, to be drawn on the device for all entries at once."""
        entry, before = self._places
        streams = [derive_seed(entry.stage_seed, _PURPOSE, entry.counter, module) for entry in self.entries]
        seeds = torch.from_numpy(np.array([0, *streams])).to(self.device)
        per_token = _signed(_words(inputs) * _GAMMA % (1 << 64))
        return DrawnMask(seeds.index_select(0, entry) + before * per_token, _threshold(self.rate))

    @cached_property
    def _places(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Each token's entry, counted from 1, or 0 for none, and the tokens of its micro-batch before it."""
        owner, before = (np.zeros(self.tokens, dtype=np.int64) for _ in range(2))
        for number, entry in enumerate(self.entries, start=1):
            own = slice(entry.first, entry.first + entry.tokens)
            owner[own] = number
            before[own] = entry.before + np.arange(entry.tokens)
        return torch.from_numpy(owner).to(self.device), torch.from_numpy(before).to(self.device)
