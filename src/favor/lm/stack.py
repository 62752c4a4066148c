"""Many LoRA adapters over one frozen base: K clients' factors as batched tensors, one forward pass for all rows.

Rows are grouped by client, the same number each. Every adapted linear layer gets a forward hook that adds
``(alpha / r) B_k A_k dropout(x)`` to the rows of client k; the layer itself (plain or 4-bit) stays untouched, and the
hooks can be taken off again. Running clients one after another is the same code with K = 1.

A forward pass may add several adapter sets ("components"), each with an optional weight per row, such as FedDPA's
``g * global + (1 - g) * local``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from favor.lm.lora import LoraState, factor_name, target_layers
from favor.lm.settings import LoraSettings

# (module index, inputs of the module) -> mask [K, tokens, inputs] of 0 and 1, or None.
MaskSource = Callable[[int, int], "torch.Tensor | None"]
Factors = list[tuple[torch.Tensor, torch.Tensor]]


class FlatLayout:
    """Where each factor of an adapter lies in one flat vector of ``size`` numbers; modules sorted by path."""

    def __init__(self, layers: dict[str, nn.Linear], rank: int) -> None:
        self.modules = tuple(layers)
        self.slots: dict[str, tuple[int, tuple[int, int]]] = {}
        self.size = 0
        for path, layer in layers.items():
            for factor, shape in (("A", (rank, layer.in_features)), ("B", (layer.out_features, rank))):
                self.slots[factor_name(path, factor)] = (self.size, shape)
                self.size += shape[0] * shape[1]

    def flatten(self, state: LoraState, device: torch.device) -> torch.Tensor:
        """Return the state as one float32 vector [size] on ``device``."""
        if state.keys() != self.slots.keys():
            raise ValueError("the adapter state's tensors are not those of the model's target modules")
        flat = torch.empty(self.size)
        for name, (start, shape) in self.slots.items():
            if tuple(state[name].shape) != shape:
                raise ValueError(f"{name} has shape {tuple(state[name].shape)}, the model and rank need {shape}")
            flat[start : start + state[name].numel()] = state[name].reshape(-1)
        return flat.to(device)

    def unflatten(self, flat: torch.Tensor) -> LoraState:
        """Return the state held by a vector [size], as float32 CPU tensors of their own, sorted by name."""
        values = flat.detach().float().cpu()
        slots = self.slots
        return {
            name: values[slots[name][0] : slots[name][0] + slots[name][1][0] * slots[name][1][1]]
            .reshape(slots[name][1])
            .clone()
            for name in sorted(slots)
        }

    def factors(self, flat: torch.Tensor, trainable: bool = False) -> Factors:
        """Return (A [K, r, d_in], B [K, d_out, r]) per module as views of ``flat`` [K, size], as leaves if trainable."""
        pairs = []
        for path in self.modules:
            factor_a, factor_b = (self._view(flat, path, factor).detach() for factor in ("A", "B"))
            pairs.append((factor_a.requires_grad_(trainable), factor_b.requires_grad_(trainable)))
        return pairs

    def collect(self, factors: Factors, gradients: torch.Tensor, positions: torch.Tensor) -> None:
        """Move the gradients of leaf ``factors`` into the rows ``positions`` of ``gradients`` [clients, size]."""
        for path, pair in zip(self.modules, factors, strict=True):
            for factor, leaf in zip(("A", "B"), pair, strict=True):
                if leaf.grad is not None:
                    self._view(gradients, path, factor).index_add_(0, positions, leaf.grad)
                    leaf.grad = None

    def _view(self, flat: torch.Tensor, path: str, factor: str) -> torch.Tensor:
        start, shape = self.slots[factor_name(path, factor)]
        return flat[:, start : start + shape[0] * shape[1]].view(-1, *shape)


@dataclass
class Component:
    """One set of K adapters in a forward pass: factors per module, and a weight per row [rows] or None for 1.

    ``dropout`` says whether the pass's dropout masks apply to its input.
    """

    factors: Factors
    weight: torch.Tensor | None = None
    dropout: bool = False


@dataclass
class _Pass:
    components: Sequence[Component] = ()
    masks: MaskSource | None = None
    keep: float = 1.0


@dataclass
class LoraStack:
    """The adapted layers of a model and what the next forward pass adds to them."""

    model: nn.Module
    settings: LoraSettings
    layout: FlatLayout = field(init=False)
    _layers: dict[str, nn.Linear] = field(init=False)
    _pass: _Pass = field(init=False, default_factory=_Pass)

    def __post_init__(self) -> None:
        self._layers = target_layers(self.model, self.settings)
        self.layout = FlatLayout(self._layers, self.settings.rank)

    @contextmanager
    def attached(self) -> Iterator[LoraStack]:
        """Hook the adapted layers for the duration of the context; the model is as before afterwards."""
        hooks = [
            layer.register_forward_hook(self._hook(index)) for index, layer in enumerate(self._layers.values())
        ]
        try:
            yield self
        finally:
            for hook in hooks:
                hook.remove()
            self._pass = _Pass()

    def set(self, components: Sequence[Component], masks: MaskSource | None = None, dropout: float = 0.0) -> None:
        """Set what forward passes add from now on: ``components``, with dropout ``masks`` at rate ``dropout``."""
        self._pass = _Pass(components, masks, 1.0 - dropout)

    def _hook(self, index: int) -> Callable[[nn.Module, tuple[Any, ...], torch.Tensor], torch.Tensor]:
        def add(module: nn.Module, inputs: tuple[Any, ...], output: torch.Tensor) -> torch.Tensor:
            (source,) = inputs
            for component in self._pass.components:
                factor_a, factor_b = component.factors[index]
                mask = None
                scaling = self.settings.scaling
                if component.dropout and self._pass.masks is not None:
                    mask = self._pass.masks(index, source.shape[-1])
                    scaling /= self._pass.keep
                # A plain layer's output is nobody else's; bitsandbytes may return a view, which autograd guards.
                in_place = type(module) is nn.Linear
                output = _AddAdapters.apply(
                    output, source, factor_a, factor_b, scaling, mask, component.weight, in_place
                )
            return output

        return add


class _AddAdapters(torch.autograd.Function):
    """base + scaling * weight * B_k A_k (mask * x) for the rows of each client k, with its gradient.

    One function instead of a chain of operations: the masked input is not kept (only x and the mask, which other
    layers share), the base's gradient passes through untouched, and the scaling costs nothing.
    """

    @staticmethod
    def forward(
        ctx: Any,
        base: torch.Tensor,
        source: torch.Tensor,
        factor_a: torch.Tensor,
        factor_b: torch.Tensor,
        scaling: float,
        mask: torch.Tensor | None,
        weight: torch.Tensor | None,
        in_place: bool,
    ) -> torch.Tensor:
        clients = factor_a.shape[0]
        inputs = source.reshape(clients, -1, source.shape[-1])
        kept = inputs if mask is None else inputs * mask
        low = torch.bmm(kept, factor_a.to(source.dtype).transpose(1, 2))
        if weight is not None:
            per_row = source[..., 0].numel() // weight.numel()
            weight = weight.to(source.dtype).repeat_interleave(per_row).view(clients, -1, 1)
            low = low * weight
        ctx.save_for_backward(source, factor_a, factor_b, mask, weight, low)
        ctx.scaling = scaling
        flat = base.view(clients, -1, base.shape[-1])
        up = factor_b.to(source.dtype).transpose(1, 2)
        if in_place:
            ctx.mark_dirty(base)
            flat.baddbmm_(low, up, alpha=scaling)
            return base
        return torch.baddbmm(flat, low, up, alpha=scaling).view(base.shape)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # type: ignore[override]
        source, factor_a, factor_b, mask, weight, low = ctx.saved_tensors
        clients = factor_a.shape[0]
        grad = gradient.reshape(clients, -1, gradient.shape[-1])
        # The scaling goes onto the low-rank side, the smallest tensors at hand.
        grad_low = torch.bmm(grad, factor_b.to(grad.dtype)) * ctx.scaling
        grad_source = grad_a = grad_b = None
        if ctx.needs_input_grad[3]:
            grad_b = torch.bmm(grad.transpose(1, 2), low * ctx.scaling).to(factor_b.dtype)
        if weight is not None:
            grad_low = grad_low * weight
        if ctx.needs_input_grad[2]:
            inputs = source.reshape(clients, -1, source.shape[-1])
            kept = inputs if mask is None else inputs * mask
            grad_a = torch.bmm(grad_low.transpose(1, 2), kept).to(factor_a.dtype)
        if ctx.needs_input_grad[1]:
            through = torch.bmm(grad_low, factor_a.to(grad.dtype))
            grad_source = (through if mask is None else through.mul_(mask)).view(source.shape)
        return gradient, grad_source, grad_a, grad_b, None, None, None, None
