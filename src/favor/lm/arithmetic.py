"""Float32 matrix products on the CPU by oneDNN where that is exact, since MKL runs them at half speed on AMD."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@cache
def _onednn_is_exact() -> bool:
    """Return whether oneDNN, allowed to choose, computes float32 products in float32 on this processor.

    torch hands float32 products to oneDNN only with leave to round the inputs to bfloat16. oneDNN takes that leave
    where the processor has matrix tiles (AMX), and there MKL is fast anyway. Elsewhere it computes in float32: a
    product compared with float64 makes sure.
    """
    if not torch.backends.mkldnn.is_available() or torch.cpu._is_amx_tile_supported():
        return False
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(96, 96, generator=generator) for _ in range(2))
    before = torch.backends.mkldnn.matmul.fp32_precision
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        error = (left @ right - left.double() @ right.double()).abs().max()
    finally:
        torch.backends.mkldnn.matmul.fp32_precision = before
    # bfloat16 inputs would give errors near 0.1, float32 ones near 1e-5.
    return bool(error < 1e-3)


@contextmanager
def fast_products() -> Iterator[None]:
    """Let float32 CPU products of two or three dimensions run in oneDNN, at the same precision.

    Keep attention outside: its kernel's many small products are slower that way.
    """
    if not _onednn_is_exact():
        yield
        return
    before = torch.backends.mkldnn.matmul.fp32_precision
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"
    try:
        yield
    finally:
        torch.backends.mkldnn.matmul.fp32_precision = before
