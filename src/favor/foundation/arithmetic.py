"""Matrix products on the CPU: in float32 by oneDNN where that is exact, since MKL is half as fast on AMD."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import nn

# How torch may compute float32 matrix products in oneDNN: "ieee", or with leave to round, "bf16".
_PRODUCTS: Any = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]


@cache
def _onednn_is_exact() -> bool:
    """Return whether oneDNN, allowed to choose, computes float32 products in float32 on this processor.

    torch hands float32 products to oneDNN only with leave to round the inputs to bfloat16. oneDNN takes that leave
    where the processor has matrix tiles (AMX), and there MKL is fast anyway. Elsewhere it computes in float32: a
    product compared with float64 makes sure.
    """
    if not torch.backends.mkldnn.is_available() or torch.cpu.get_capabilities().get("amx_tile", False):
        return False
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(96, 96, generator=generator) for _ in range(2))
    before = _PRODUCTS.fp32_precision
    _PRODUCTS.fp32_precision = "bf16"
    try:
        error = (left @ right - left.double() @ right.double()).abs().max()
    finally:
        _PRODUCTS.fp32_precision = before
    # bfloat16 inputs would give errors near 0.1, float32 ones near 1e-5.
    return bool(error < 1e-3)


def multiplies_bfloat16() -> bool:
    """Return whether oneDNN has products in bfloat16 for this processor; torch's own take 7 times float32's time."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@contextmanager
def fast_products() -> Iterator[None]:
    """Let float32 CPU products of two or three dimensions run in oneDNN, at the same precision.

    Keep attention outside: its kernel's many small products are slower that way.
    """
    if not _onednn_is_exact():
        yield
        return
    before = _PRODUCTS.fp32_precision
    _PRODUCTS.fp32_precision = "bf16"
    try:
        yield
    finally:
        _PRODUCTS.fp32_precision = before


@contextmanager
def fast_linear_layers(model: nn.Module, precision: str = "float32") -> Iterator[None]:
    """Let the plain linear layers of a model run through :func:`fast_products`, forwards and backwards.

    Only those whose weights are on the CPU, and only where the model computes in float32.
    """
    layers = [module for module in model.modules() if type(module) is nn.Linear and module.weight.device.type == "cpu"]
    layers = layers if precision == "float32" else []
    for layer in layers:
        layer.forward = partial(_fast_linear, layer)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def _fast_linear(layer: nn.Linear, source: torch.Tensor) -> torch.Tensor:
    return _TrainedLinear.apply(source, layer.weight, layer.bias)


class _TrainedLinear(torch.autograd.Function):
    """x W^T + b with its gradients."""

    @staticmethod
    def forward(ctx: Any, source: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(source, weight)
        with fast_products():
            return nn.functional.linear(source, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        source, weight = ctx.saved_tensors
        rows = gradient.reshape(-1, gradient.shape[-1])
        with fast_products():
            gradient_source = gradient @ weight if ctx.needs_input_grad[0] else None
            gradient_weight = rows.t() @ source.reshape(-1, source.shape[-1])
        return gradient_source, gradient_weight, rows.sum(0) if ctx.needs_input_grad[2] else None
