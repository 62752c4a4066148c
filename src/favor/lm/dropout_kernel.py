"""Triton kernel that multiplies by a dropout mask it draws itself, so that no mask is ever written to memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# SplitMix64's gamma and factors, as int64 with the same bits.
_GAMMA = tl.constexpr(0x9E3779B97F4A7C15 - (1 << 64))
_FIRST = tl.constexpr(0xBF58476D1CE4E5B9 - (1 << 64))
_SECOND = tl.constexpr(0x94D049BB133111EB - (1 << 64))
_COLUMNS = 1024


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(rows, starts, out, columns, threshold, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    bits = tl.load(starts + token) + (column // 4 + 1).to(tl.int64) * _GAMMA
    # Shifts keep the sign; what they bring in is masked away.
    bits = (bits ^ ((bits >> 30) & 0x3FFFFFFFF)) * _FIRST
    bits = (bits ^ ((bits >> 27) & 0x1FFFFFFFFF)) * _SECOND
    bits = bits ^ ((bits >> 31) & 0x1FFFFFFFF)
    lane = (bits >> (16 * (column % 4)).to(tl.int64)) & 0xFFFF
    kept = (lane ^ 0x8000) >= threshold + 32768
    place = token * columns + column
    values = tl.load(rows + place, mask=inside, other=0.0)
    tl.store(out + place, tl.where(kept, values, 0.0), mask=inside)


def dropped(rows: torch.Tensor, starts: torch.Tensor, threshold: int) -> torch.Tensor:
    """Return ``rows`` [tokens, inputs] times the mask of :func:`favor.lm.dropout.dropped`."""
    rows = rows.contiguous()
    out = torch.empty_like(rows)
    tokens, columns = rows.shape
    _kernel[(tokens, triton.cdiv(columns, _COLUMNS))](rows, starts, out, columns, threshold, BLOCK=_COLUMNS)
    return out
