"""Counts what runs on torch's meta device: arithmetic, bytes, operations and memory, as a GPU would see them.

A decoder of any shape has no values there; what a GPU does in one kernel (a product with a 4-bit weight, a norm) is
counted as one.
"""

from __future__ import annotations

import importlib.util
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from favor.lm.base import BaseModel
from favor.lm.fused import Kernels, Rotation, kernels

META, GPU = torch.device("meta"), torch.device("cuda")
# What the model leaves out: gaps between kernels, the host, the optimiser.
OVERHEAD = 1.15


@dataclass(frozen=True)
class Card:
    """A GPU's sustained arithmetic (TFLOP/s, bf16), memory traffic (TB/s), microseconds a kernel takes to start, GB."""

    arithmetic: float
    traffic: float
    launch: float
    memory: float


@dataclass
class Counts:
    """What operations ask for: floating-point operations and bytes of each, by kind, and the most bytes alive."""

    work: list[tuple[str, float, float]] = field(default_factory=list)
    peak: int = 0
    host_seconds: float = 0.0

    def flops(self, kind: str | None = None) -> float:
        """Return the floating-point operations of a kind, or of all."""
        return sum(flops for name, flops, _ in self.work if kind in (None, name))

    def bytes(self, kind: str | None = None) -> float:
        """Return the bytes read and written of a kind, or of all."""
        return sum(moved for name, _, moved in self.work if kind in (None, name))

    def seconds(self, card: Card) -> float:
        """Return the time on a card: the slower of arithmetic and traffic for each operation, plus its start."""
        spent = sum(
            max(flops / (card.arithmetic * 1e12), moved / (card.traffic * 1e12)) + card.launch * 1e-6
            for _, flops, moved in self.work
        )
        return OVERHEAD * spent


class _Counting(TorchDispatchMode):
    """Counts every operation under it that computes something; ``lengths`` are the pieces that attention sees."""

    def __init__(self, lengths: Sequence[int], rank: int, vocabulary: int) -> None:
        super().__init__()
        self.counts, self.lengths, self.rank, self.vocabulary = Counts(), lengths, rank, vocabulary
        self.alive: dict[int, int] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        inputs, outputs = _tensors(*args, *kwargs.values()), _tensors(result)
        for tensor in outputs:
            self._remember(tensor)
        name, packet = function.overloadpacket.__name__, function.overloadpacket
        if any(item.alias_info is not None and not item.alias_info.is_write for item in function._schema.returns):
            return result  # a view
        if name.startswith(("empty", "new_empty", "detach", "lift_fresh", "_unsafe_view")):
            return result
        flops = 0.0
        kind = "elementwise and copies"
        if "varlen_attn" in name:
            heads, size = inputs[0].shape[-2:] if "backward" not in name else inputs[1].shape[-2:]
            scores = sum(length * (length + 1) / 2 for length in self.lengths)
            kind, flops = "attention", (4 if "backward" not in name else 10) * scores * float(heads * size)
        elif packet is torch.ops.roofline.attention:
            kind, flops = "attention", 4.0 * inputs[0].numel() * inputs[1].shape[2]
        elif name == "_grouped_mm":
            left, right = inputs[:2]
            kind, flops = "adapters", 2.0 * left.shape[0] * left.shape[1] * right.shape[-1]
        elif packet in flop_registry:
            flops = float(flop_registry[packet](*args, **kwargs, out_val=result))
            sizes = {size for tensor in (*inputs, *outputs) for size in tensor.shape}
            kind = "adapters" if self.rank in sizes else "output layer" if self.vocabulary in sizes else "base"
        elif name == "dropped":
            kind = "dropout"
        moved = sum(tensor.numel() * tensor.element_size() for tensor in (*inputs, *outputs))
        if name.startswith(("scatter", "gather", "index_copy_", "embedding")):  # touch what their indices name
            named = outputs if name.startswith(("gather", "embedding")) else inputs[1:]
            moved = 3 * sum(tensor.numel() * tensor.element_size() for tensor in named)
        self.counts.work.append((kind, flops, float(moved)))
        return result

    def _remember(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self.alive:
            self.alive[key] = storage.nbytes()
            weakref.finalize(storage, self.alive.pop, key, None)
            self.counts.peak = max(self.counts.peak, sum(self.alive.values()))


def _tensors(*values: Any) -> list[torch.Tensor]:
    flat = chain.from_iterable(value if isinstance(value, list | tuple) else (value,) for value in values)
    return list({id(value): value for value in flat if isinstance(value, torch.Tensor)}.values())


class _Dequantise(torch.autograd.Function):
    """A product with a 4-bit weight: made whole, multiplied by, forgotten, and made again for the gradient."""

    @staticmethod
    def forward(ctx: Any, source: torch.Tensor, layer: Quantised) -> torch.Tensor:  # type: ignore[override]
        ctx.layer = layer
        return torch.nn.functional.linear(source, layer.whole(), layer.bias)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        return gradient @ ctx.layer.whole(), None


class Quantised(torch.nn.Linear):
    """A linear layer that costs what one in NF4 does."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__(1, 1, device="meta")
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        size = layer.out_features * layer.in_features
        self.weight = torch.nn.Parameter(torch.empty(size // 2, dtype=torch.uint8, device="meta"), requires_grad=False)

    def whole(self) -> torch.Tensor:
        """Return the weight in bfloat16."""
        pairs = self.weight.unsqueeze(1).expand(-1, 2)
        return pairs.to(torch.bfloat16).view(self.out_features, self.in_features)

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        """Return the layer's output."""
        return _Dequantise.apply(source, self)


@torch.library.custom_op("roofline::kernel", mutates_args=())
def _kernel(inputs: list[torch.Tensor], outputs: int) -> list[torch.Tensor]:
    """Stand for one kernel that reads ``inputs`` and writes as much as the first ``outputs`` of them hold."""
    raise NotImplementedError("only shapes are computed")


@_kernel.register_fake
def _(inputs: list[torch.Tensor], outputs: int) -> list[torch.Tensor]:
    return [torch.empty_like(tensor) for tensor in inputs[:outputs]]


@torch.library.custom_op("roofline::attention", mutates_args=())
def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Stand for torch's attention as one kernel, where the meta device would take it apart."""
    raise NotImplementedError("only shapes are computed")


@_attention.register_fake
def _(query: torch.Tensor, _key: torch.Tensor, _value: torch.Tensor, _mask: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(query)


@contextmanager
def attention_kernel() -> Iterator[None]:
    """Let torch's attention be counted as the kernel of a GPU: without its scores in memory."""

    def attend(query: Any, key: Any, value: Any, attn_mask: Any = None, **_options: Any) -> torch.Tensor:
        return _attention(query, key, value, attn_mask)

    with patch.object(torch.nn.functional, "scaled_dot_product_attention", attend):
        yield


class _NormKernel(torch.autograd.Function):
    """torch's RMS norm on a GPU: one kernel each way."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, _: float) -> torch.Tensor:  # type: ignore[override]
        ctx.save_for_backward(states, weight)
        return _kernel([states, weight], 1)[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:  # type: ignore[override]
        return _kernel([gradient, *ctx.saved_tensors], 1)[0], None, None


class _RotationKernel(torch.autograd.Function):
    """Liger's rotary embedding."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> Rotation:  # type: ignore[override]
        ctx.save_for_backward(*inputs[2:])
        query, key = _kernel(list(inputs), 2)
        return query, key

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # type: ignore[override]
        query, key = _kernel([*gradients, *ctx.saved_tensors], 2)
        return query, key, None, None


class _GatedKernel(torch.autograd.Function):
    """Liger's silu(gate) * up."""

    @staticmethod
    def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        ctx.save_for_backward(*inputs)
        return _kernel(list(inputs), 1)[0]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, ...]:  # type: ignore[override]
        return tuple(_kernel([*ctx.saved_tensors, gradient], 2))


def card_kernels(liger: bool) -> Kernels:
    """Return what stands for the kernels of a GPU, with or without Liger's."""
    with patch.object(importlib.util, "find_spec", return_value=None):
        own = kernels(GPU)
    if liger:
        return Kernels(_NormKernel.apply, _RotationKernel.apply, _GatedKernel.apply)
    return Kernels(_NormKernel.apply, own.rotate, own.gated)


def meta_base(configuration: Any, quantise: bool = True) -> BaseModel:
    """Return a decoder of the configuration without values, its linear layers as in NF4 if ``quantise``."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(deepcopy(configuration), dtype=torch.bfloat16)
    model.eval().requires_grad_(False)
    for path, layer in list(model.named_modules()):
        if quantise and type(layer) is torch.nn.Linear and layer is not model.get_output_embeddings():
            parent, _, name = path.rpartition(".")
            setattr(model.get_submodule(parent), name, Quantised(layer))
    context = configuration.get_text_config().max_position_embeddings
    return BaseModel("meta", model, None, META, torch.bfloat16, context, ())  # type: ignore[arg-type]


@contextmanager
def counting(lengths: Sequence[int], base: BaseModel, rank: int) -> Iterator[Counts]:
    """Count what runs in the context, beyond what is there before: pieces of ``lengths``, adapters of a ``rank``."""
    mode = _Counting(lengths, rank, base.head.out_features)
    started = time.process_time()
    with mode:
        yield mode.counts
    mode.counts.host_seconds = time.process_time() - started
