"""Norms, rotary embeddings and SwiGLU of a frozen decoder as one function each, with the same results.

The models' own code makes a dozen tensors for each of them. While :func:`fused_layers` is entered, layers whose formula
is Llama's run what is known to be faster on their device: on a processor the functions below; on a GPU torch's own
kernel for norms, and for the other two Liger's where it is installed (the extra ``gpu``). Layers of
another formula stay as they are.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

Rotation = tuple[torch.Tensor, torch.Tensor]

# Architectures of transformers whose layers compute Llama's formulas: w * (x / rms(x)); x cos + rotate_half(x) sin;
# down(silu(gate x) * up x).
_NORMS = ("LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm", "Phi3RMSNorm")
_ATTENTIONS = ("LlamaAttention", "MistralAttention", "Qwen2Attention", "Qwen3Attention")
_PERCEPTRONS = ("LlamaMLP", "MistralMLP", "Qwen2MLP", "Qwen3MLP")


@dataclass(frozen=True)
class Kernels:
    """What computes a layer's parts.

    - ``norm(x [..., d], weight [d], epsilon)`` -> [..., d];
    - ``rotate(query [1, heads, tokens, size], key, cos [1, tokens, size], sin)`` -> both rotated;
    - ``gated(gate, up)`` -> silu(gate) * up.
    """

    norm: Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]
    rotate: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Rotation]
    gated: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def kernels(device: torch.device) -> Kernels:
    """Return what serves best on ``device``."""
    if device.type == "cpu":
        return Kernels(_Norm.apply, _rotate, _Gated.apply)
    if device.type != "cuda" or any(importlib.util.find_spec(name) is None for name in ("liger_kernel", "triton")):
        return Kernels(_torch_norm, _rotate, _Gated.apply)
    from liger_kernel.ops import LigerRopeFunction, LigerSiLUMulFunction

    return Kernels(_torch_norm, LigerRopeFunction.apply, LigerSiLUMulFunction.apply)


@contextmanager
def fused_layers(model: nn.Module, chosen: Kernels) -> Iterator[None]:
    """Let a frozen Hugging Face decoder run what is ``chosen`` for the duration of the context."""
    layers: list[nn.Module] = []
    modules: dict[Any, Any] = {}
    layer: Any
    for layer in model.modules():
        name = type(layer).__name__
        if name in _NORMS:
            layer.forward = partial(_normed, chosen, layer)
            layers.append(layer)
        elif name in _PERCEPTRONS and layer.config.hidden_act == "silu":
            layer.forward = partial(_gated, chosen, layer)
            layers.append(layer)
        elif name in _ATTENTIONS:
            # The layer finds the function in its module's namespace.
            module: Any = sys.modules[type(layer).__module__]
            modules.setdefault(module, module.apply_rotary_pos_emb)
    try:
        for module in modules:
            module.apply_rotary_pos_emb = chosen.rotate
        yield
    finally:
        for module, own in modules.items():
            module.apply_rotary_pos_emb = own
        for layer in layers:
            del layer.forward


def _normed(chosen: Kernels, layer: Any, states: torch.Tensor) -> torch.Tensor:
    return chosen.norm(states, layer.weight, layer.variance_epsilon)


def _gated(chosen: Kernels, layer: Any, states: torch.Tensor) -> torch.Tensor:
    output: torch.Tensor = layer.down_proj(chosen.gated(layer.gate_proj(states), layer.up_proj(states)))
    return output


def _torch_norm(states: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    return nn.functional.rms_norm(states, weight.shape, weight, epsilon)


class _Norm(torch.autograd.Function):
    """w x / sqrt(mean(x^2) + epsilon) over the last dimension, w frozen, in float32."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
        values = states.float()
        inverse = torch.linalg.vector_norm(values, dim=-1, keepdim=True).square_()
        inverse = inverse.div_(values.shape[-1]).add_(epsilon).rsqrt_()
        ctx.save_for_backward(states, weight, inverse)
        return (values * inverse).to(states.dtype).mul_(weight)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, weight, inverse = ctx.saved_tensors
        values = states.float()
        # With g' = w g and i the inverse: i g' - x i^3 mean(g' x).
        gradient = gradient.float() * weight.float()
        along = (gradient * values).sum(-1, keepdim=True).mul_(inverse**3 / values.shape[-1])
        return gradient.mul_(inverse).addcmul_(values, along, value=-1.0).to(states.dtype), None, None


class _Rotation(torch.autograd.Function):
    """x cos + rotate_half(x) sin, with rotate_half((a, b)) = (-b, a) on the halves of the last dimension."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(cos, sin)
        half = states.shape[-1] // 2
        rotated = states * cos
        rotated[..., :half].addcmul_(states[..., half:], sin[..., :half], value=-1.0)
        rotated[..., half:].addcmul_(states[..., :half], sin[..., half:])
        return rotated

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        cos, sin = ctx.saved_tensors
        half = gradient.shape[-1] // 2
        source = gradient * cos
        source[..., :half].addcmul_(gradient[..., half:], sin[..., half:])
        source[..., half:].addcmul_(gradient[..., :half], sin[..., :half], value=-1.0)
        return source, None, None


class _Gated(torch.autograd.Function):
    """silu(gate) * up. It keeps gate and up alone, a quarter less of a layer's perceptron than the models' own code."""

    @staticmethod
    def forward(ctx: Any, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(gate, up)
        return nn.functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gate, up = ctx.saved_tensors
        return torch.ops.aten.silu_backward(gradient * up, gate), nn.functional.silu(gate).mul_(gradient)


def _rotate(query: torch.Tensor, key: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Rotation:
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return _Rotation.apply(query, cos, sin), _Rotation.apply(key, cos, sin)
