"""How the attention layers of a Hugging Face model attend: by a function of ours, while a context lasts.

Pieces are packed end to end: one row of tokens without padding, in which every piece attends to itself alone. While
:func:`packed_attention` is entered, a model's attention layers call :func:`attend`. What the pieces are comes with each
forward pass as its argument ``packing``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import nn

from favor.foundation.errors import UserError

_NAME = "favor_packed"
# FlashAttention's kernels take these types, and heads of at most this size.
_FLASH_TYPES = (torch.bfloat16, torch.float16)
_FLASH_HEAD = 256
# Queries that a processor takes at a time: their scores stay in its cache, and none behind the last of them is taken.
_BLOCK = 128
# Keys of a block whose probabilities are kept for the backward pass.
_KEPT = 256
# What changes the scores beyond a scale and a window; the kernels used here have neither.
_UNKNOWN = ("softcap", "s_aux", "position_bias")
_States = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # of queries, keys and values


@dataclass(frozen=True)
class Packing:
    """The pieces in one packed row: their ``lengths`` in tokens, in order, on ``device``."""

    lengths: tuple[int, ...]
    device: torch.device

    @cached_property
    def positions(self) -> torch.Tensor:
        """Position of every token in its own piece, [1, tokens]."""
        positions = np.concatenate([np.arange(length) for length in self.lengths])
        return torch.from_numpy(positions).unsqueeze(0).to(self.device)

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where every piece starts and the last one ends, int32 [pieces + 1]."""
        return torch.from_numpy(np.cumsum((0, *self.lengths), dtype=np.int32)).to(self.device)


def packed_attention(model: nn.Module) -> AbstractContextManager[None]:
    """Let the attention layers of a Hugging Face model take packed rows for the duration of the context."""
    return attention_by(model, _NAME, attend)


def attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    packing: Packing | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Return the causal attention of every piece to itself [1, tokens, heads, size].

    ``query`` [1, heads, tokens, size]; ``key`` and ``value`` may have fewer heads, shared by equal groups of query
    heads. With a ``sliding_window`` W a token sees itself and the W - 1 tokens before it. FlashAttention's kernel for
    pieces of unequal lengths runs where it can; elsewhere attention is taken piece by piece.

    Raises ``UserError`` for a layer that hands over no ``packing``, or that alters its scores in another way.
    """
    if packing is None:
        raise UserError(f"{type(module).__name__}: it is not told which pieces a row has")
    unknown = [name for name in _UNKNOWN if options.get(name) is not None]
    if attention_mask is not None or unknown:
        raise UserError(f"{type(module).__name__}: attention with {', '.join(unknown) or 'a mask'} is not supported")
    window = sliding_window if sliding_window is not None and sliding_window < max(packing.lengths) else None
    attended = _varlen if _flashes(query, value) else _piecewise
    return attended((query, key, value), packing, scaling, window), None


def _flashes(query: torch.Tensor, value: torch.Tensor) -> bool:
    """Return whether FlashAttention's kernel takes these heads: on an Ampere card or a later one."""
    if query.device.type == "cpu" or (query.is_cuda and torch.cuda.get_device_capability(query.device) < (8, 0)):
        return False
    size = query.shape[-1]
    return query.dtype in _FLASH_TYPES and size == value.shape[-1] <= _FLASH_HEAD and size % 8 == 0


def _varlen(states: _States, packing: Packing, scaling: float | None, window: int | None) -> torch.Tensor:
    from torch.nn.attention.varlen import varlen_attn

    longest = max(packing.lengths)
    query, key, value = (state[0].transpose(0, 1) for state in states)
    attended = varlen_attn(
        query,
        key,
        value,
        packing.starts,
        packing.starts,
        longest,
        longest,
        scale=scaling,
        window_size=(-1 if window is None else window - 1, 0),
        enable_gqa=key.shape[1] != query.shape[1],
    )
    assert isinstance(attended, torch.Tensor)
    return attended.unsqueeze(0)


def _piecewise(states: _States, packing: Packing, scaling: float | None, window: int | None) -> torch.Tensor:
    query, key, value = states
    if multiplies_plainly(query):
        attended: torch.Tensor = _Plain.apply(query, key, value, packing.lengths, scaling, window)
        return attended
    pieces = []
    parts = (state.split(packing.lengths, dim=2) for state in states)
    for length, own_query, own_key, own_value in zip(packing.lengths, *parts, strict=True):
        mask = None
        if window is not None and window < length:
            mask = torch.ones(length, length, dtype=torch.bool, device=query.device).tril().triu(1 - window)
        pieces.append(
            nn.functional.scaled_dot_product_attention(
                own_query,
                own_key,
                own_value,
                attn_mask=mask,
                is_causal=mask is None,
                scale=scaling,
                enable_gqa=key.shape[1] != query.shape[1],
            ).transpose(1, 2)
        )
    return torch.cat(pieces, dim=1)


def multiplies_plainly(query: torch.Tensor) -> bool:
    """Return whether attention is faster as plain products: in bfloat16 on a processor two to three times."""
    return query.device.type == "cpu" and query.dtype == torch.bfloat16


def _two_products(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, seen: torch.Tensor | None, scaling: float | None
) -> torch.Tensor:
    """Return the attention [rows, tokens, heads, size], its softmax in float32; heads that share keys read them once.

    ``query`` [rows, heads, tokens, size], ``key`` and ``value`` [rows, shared heads, positions, size]; ``seen``: True
    where a token sees a position, of a shape that expands to [rows, 1, tokens, positions], or None for everywhere.
    """
    rows, heads, tokens, size = query.shape
    shared, positions = key.shape[1:3]
    scores = (query.reshape(rows, shared, -1, size) @ key.transpose(2, 3)).float()
    scores = scores.mul_(size**-0.5 if scaling is None else scaling).view(rows, heads, tokens, positions)
    if seen is not None:
        scores = scores.masked_fill_(~seen, -torch.inf)
    probabilities = scores.softmax(-1).to(value.dtype).view(rows, shared, -1, positions)
    return (probabilities @ value).view(rows, heads, tokens, -1).transpose(1, 2)


class _Plain(torch.autograd.Function):
    """Causal attention of packed pieces as plain products, block after block of queries.

    The backward pass computes the probabilities of longer pieces again: those would take the most memory.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[int, ...],
        scaling: float | None,
        window: int | None,
    ) -> torch.Tensor:
        ctx.lengths, ctx.window = lengths, window
        ctx.scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        _, heads, tokens, _ = query.shape
        attended = value.new_empty(1, tokens, heads, value.shape[-1])
        kept: list[torch.Tensor | None] = []
        for own, seen, unseen in _blocks(query, lengths, window):
            probabilities = _probabilities(_grouped(query, own, key), key[0, :, seen], unseen, ctx.scaling)
            found = (probabilities @ value[0, :, seen]).view(heads, len(unseen), -1)
            attended[0, own] = found.transpose(0, 1)
            kept.append(probabilities if seen.stop - seen.start <= _KEPT else None)
        ctx.save_for_backward(query, key, value, *kept)
        return attended

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        query, key, value, *kept = ctx.saved_tensors
        of_query, of_key, of_value = torch.empty_like(query), torch.zeros_like(key), torch.zeros_like(value)
        gradient = gradient.transpose(1, 2)
        blocks = _blocks(query, ctx.lengths, ctx.window)
        for (own, seen, unseen), probabilities in zip(blocks, kept, strict=True):
            queries, keys = _grouped(query, own, key), key[0, :, seen]
            if probabilities is None:
                probabilities = _probabilities(queries, keys, unseen, ctx.scaling)
            upstream = _grouped(gradient, own, key)
            of_value[0, :, seen] += probabilities.transpose(1, 2) @ upstream
            slope = upstream @ value[0, :, seen].transpose(1, 2)
            slope = torch.ops.aten._softmax_backward_data(slope, probabilities, -1, slope.dtype)
            of_query[0, :, own] = (slope @ keys).mul_(ctx.scaling).view(-1, len(unseen), query.shape[-1])
            of_key[0, :, seen] += (slope.transpose(1, 2) @ queries).mul_(ctx.scaling)
        return of_query, of_key, of_value, None, None, None


def _blocks(
    query: torch.Tensor, lengths: Sequence[int], window: int | None
) -> Iterator[tuple[slice, slice, torch.Tensor]]:
    """Yield (places of a block's queries, of the keys up to the last of them, what is added to their scores).

    That is 0 where a query sees a key and -infinity elsewhere, [queries, keys].
    """
    before = (max(lengths) - 1) // _BLOCK * _BLOCK
    unseen = query.new_full((_BLOCK, before + _BLOCK), -torch.inf).triu_(before + 1)
    if window is not None:
        unseen += torch.full_like(unseen, -torch.inf).tril_(before - window)
    start = 0
    for length in lengths:
        for first in range(0, length, _BLOCK):
            end = min(first + _BLOCK, length)
            columns = slice(before - first, before - first + end)
            yield slice(start + first, start + end), slice(start, start + end), unseen[: end - first, columns]
        start += length


def _grouped(heads: torch.Tensor, own: slice, shared: torch.Tensor) -> torch.Tensor:
    """Return the ``own`` tokens of ``heads`` as [shared heads, heads per shared one * tokens, size]."""
    return heads[0, :, own].reshape(shared.shape[1], -1, heads.shape[-1])


def _probabilities(query: torch.Tensor, key: torch.Tensor, unseen: torch.Tensor, scaling: float) -> torch.Tensor:
    shared, rows, _ = query.shape
    scores = unseen.repeat(shared, rows // len(unseen), 1)
    return scores.baddbmm_(query, key.transpose(1, 2), alpha=scaling).softmax(-1)


_SHARED = "favor_shared_heads"


@contextmanager
def attention_by(model: nn.Module, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let the attention layers call ``function``, registered with transformers as ``name``."""
    from transformers import AttentionInterface, PreTrainedModel

    AttentionInterface.register(name, function)
    configurations: dict[int, Any] = {
        id(module.config): module.config for module in model.modules() if isinstance(module, PreTrainedModel)
    }
    before = {key: configuration._attn_implementation for key, configuration in configurations.items()}
    try:
        for configuration in configurations.values():
            configuration._attn_implementation = name
        yield
    finally:
        for key, configuration in configurations.items():
            configuration._attn_implementation = before[key]


@contextmanager
def shared_heads(model: nn.Module) -> Iterator[None]:
    """Let a model that attends by torch's function read keys and values that heads share once, and not once per head.

    It is for steps of one token, to which transformers would copy them: for Qwen2.5-3B eight times.
    """
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    configuration: Any = model.config
    if configuration._attn_implementation != "sdpa":
        yield
        return
    AttentionMaskInterface.register(_SHARED, sdpa_mask)
    with attention_by(model, _SHARED, _attend_one):
        yield


def _attend_one(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Return the attention [rows, tokens, heads, size]; the heads that share keys are one head's queries to them.

    ``query`` [rows, heads, tokens, size], ``key`` and ``value`` [rows, shared heads, positions, size], the mask
    [rows, 1, tokens, positions] of True where a position is seen, or None where all are.
    """
    if query.shape[2] > 1:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    if multiplies_plainly(query):
        return _two_products(query, key, value, attention_mask, scaling), None
    rows, heads, _, size = query.shape
    queries = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    attended = nn.functional.scaled_dot_product_attention(queries, key, value, attention_mask, scale=scaling)
    return attended.reshape(rows, 1, heads, value.shape[-1]), None
