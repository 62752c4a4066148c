"""Many LoRA adapters over one frozen base: K clients' factors as batched tensors, one forward pass for all rows.

Rows are grouped by client: the same number each, or a run of tokens of any length each. While a stack is attached,
every adapted linear layer (plain or 4-bit) also adds ``(alpha / r) B_k A_k dropout(x)`` to the rows of client k; its
weights stay untouched. Running clients one after another is the same code with K = 1.

A forward pass may add several adapter sets ("components"), each with an optional weight per row, such as FedDPA's
``g * global + (1 - g) * local``.

A pass may name the tokens whose final states it uses. The last layer's perceptron, which sees every token alone, then
computes those only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from favor.foundation.arithmetic import fast_products
from favor.lm.dropout import DrawnMask
from favor.lm.grouped import Needed, Runs, grouped_outer, grouped_product, grouped_sum
from favor.lm.lora import LoraState, factor_name, target_layers
from favor.lm.settings import Lora

# A mask [tokens, inputs] of 0 and 1 or booleans, or what draws it; (module index, inputs of the module) -> its mask.
Mask = torch.Tensor | DrawnMask
MaskSource = Callable[[int, int], Mask]
Factors = list[tuple[torch.Tensor, torch.Tensor]]


class Layout:
    """Where tensors of these ``shapes`` lie, one behind the other, in a flat vector of ``size`` numbers."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.size = 0
        self.slots: dict[str, tuple[slice, tuple[int, ...]]] = {}
        for name, shape in shapes.items():
            start, self.size = self.size, self.size + math.prod(shape)
            self.slots[name] = slice(start, self.size), shape

    def flatten(self, state: LoraState, device: torch.device) -> torch.Tensor:
        """Return the state as one float32 vector [size] on ``device``."""
        if state.keys() != self.slots.keys():
            raise ValueError("the state's tensors are not those of the model's target modules")
        flat = torch.empty(self.size)
        for name, (part, shape) in self.slots.items():
            tensor = state[name]
            if tuple(tensor.shape) != shape:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}, the model and rank need {shape}")
            flat[part] = tensor.reshape(-1)
        return flat.to(device)

    def unflatten(self, flat: torch.Tensor) -> LoraState:
        """Return the state held by a vector [size], as float32 CPU tensors of their own, sorted by name."""
        values = flat.detach().float().cpu()
        return {name: values[part].reshape(shape).clone() for name, (part, shape) in sorted(self.slots.items())}

    def leaves(self, flat: torch.Tensor, trainable: bool = False) -> list[torch.Tensor]:
        """Return the tensors in ``flat`` [K, size], K before their shapes, that need gradients if ``trainable``.

        They are contiguous (for several clients: copies), because a product of strided batches copies them every time.
        """
        return [self.view(flat, name).detach().contiguous().requires_grad_(trainable) for name in self.slots]

    def collect(self, leaves: Iterable[torch.Tensor], gradients: torch.Tensor, positions: Sequence[int]) -> None:
        """Move the gradients of ``leaves`` into the rows ``positions``, which are sorted, of ``gradients``."""
        adjoin = positions[-1] - positions[0] == len(positions) - 1
        rows = slice(positions[0], positions[-1] + 1) if adjoin else list(positions)
        for name, leaf in zip(self.slots, leaves, strict=True):
            if leaf.grad is not None:
                self.view(gradients, name)[rows] += leaf.grad
                leaf.grad = None

    def marks(self, names: Collection[str], device: torch.device) -> torch.Tensor:
        """Return a vector [size] of 1 on the tensors of these ``names`` and 0 on the others."""
        flat = torch.zeros(self.size, device=device)
        for name in names:
            flat[self.slots[name][0]] = 1.0
        return flat

    def view(self, flat: torch.Tensor, name: str) -> torch.Tensor:
        """Return the tensor ``name`` in ``flat`` [K, at least size] as a view [K, ...]."""
        part, shape = self.slots[name]
        return flat[:, part].view(-1, *shape)


class FactorLayout(Layout):
    """Where the factors of an adapter lie: A and B of one module after another."""

    def __init__(self, layers: Mapping[str, nn.Linear], rank: int) -> None:
        shapes: dict[str, tuple[int, ...]] = {}
        for path, layer in layers.items():
            shapes[factor_name(path, "A")] = (rank, layer.in_features)
            shapes[factor_name(path, "B")] = (layer.out_features, rank)
        super().__init__(shapes)

    def factors(self, flat: torch.Tensor, trainable: bool = False) -> Factors:
        """Return (A [K, r, d_in], B [K, d_out, r]) per module; see :meth:`Layout.leaves`."""
        leaves = self.leaves(flat, trainable)
        return list(zip(leaves[::2], leaves[1::2], strict=True))


@dataclass
class Component:
    """One set of K adapters in a forward pass: factors per module, and a weight per row (packed: per token) or None.

    ``dropout`` says whether the pass's dropout masks apply to its input. ``gates``: per module vectors u [K, d_in],
    whose sigmoid(u x) is the weight of a token with input x there.
    """

    factors: Factors
    weight: torch.Tensor | None = None
    dropout: bool = False
    gates: list[torch.Tensor] | None = None


@dataclass
class _Pass:
    components: Sequence[Component] = ()
    masks: MaskSource | None = None
    keep: float = 1.0
    runs: Runs | None = None
    needed: Needed | None = None


class LoraStack:
    """The adapted layers of a model and what the next forward pass adds to them."""

    def __init__(self, model: nn.Module, settings: Lora) -> None:
        self.settings = settings
        self.layers = target_layers(model, settings)
        self.layout = FactorLayout(self.layers, settings.rank)
        # The last layer's perceptron, where the model has one by that name, and which of the adapted layers are in it.
        path, self._last = _last_perceptron(model)
        self._in_last = {index for index, name in enumerate(self.layers) if path and name.startswith(f"{path}.")}
        self._pass = _Pass()

    @contextmanager
    def attached(self) -> Iterator[LoraStack]:
        """Adapt the layers for the duration of the context; the model is as before afterwards.

        A plain layer's forward is replaced by one function for base and adapters; a quantised layer gets a hook.
        """
        hooks: list[RemovableHandle] = []
        plain: list[nn.Linear] = []
        try:
            if self._last is not None:
                hooks += [
                    self._last.register_forward_pre_hook(self._narrow),
                    self._last.register_forward_hook(self._widen),
                ]
            for index, layer in enumerate(self.layers.values()):
                if type(layer) is nn.Linear:
                    layer.forward = partial(self._plain, index, layer)  # type: ignore[method-assign]
                    plain.append(layer)
                else:
                    hooks.append(layer.register_forward_hook(partial(self._quantised, index)))
            yield self
        finally:
            for hook in hooks:
                hook.remove()
            for layer in plain:
                del layer.forward
            self._pass = _Pass()

    def set(
        self,
        components: Sequence[Component],
        masks: MaskSource | None = None,
        dropout: float = 0.0,
        runs: Runs | None = None,
        needed: Needed | None = None,
    ) -> None:
        """Set what forward passes add from now on: ``components``, with dropout ``masks`` at rate ``dropout``.

        ``runs`` says which tokens are whose, client after client; None: as many rows for each client. ``needed``: the
        tokens whose final states are used; those of the others are then not what the model would give. None: all.
        """
        self._pass = _Pass(components, masks, 1.0 - dropout, runs, needed)

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let go of a pass's factors, with their gradients, and masks at the end of the context, however it ends."""
        try:
            yield
        finally:
            self._pass = _Pass()

    def _plain(self, index: int, layer: nn.Linear, source: torch.Tensor) -> torch.Tensor:
        components = self._pass.components
        first = self._terms(index, components[0], source) if components else None
        output = _AdaptedLinear.apply(source, layer.weight, layer.bias, *(first or _NO_TERMS))
        for component in components[1:]:
            output = _AddAdapters.apply(output, source, *self._terms(index, component, source))
        return output

    def _quantised(self, index: int, _module: nn.Module, inputs: tuple[Any, ...], output: torch.Tensor) -> torch.Tensor:
        (source,) = inputs
        for component in self._pass.components:
            output = _AddAdapters.apply(output, source, *self._terms(index, component, source))
        return output

    def _narrow(self, _: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor] | None:
        needed = self._pass.needed
        return None if needed is None else (inputs[0].index_select(1, needed.tokens),)

    def _widen(self, _: nn.Module, __: tuple[Any, ...], output: torch.Tensor) -> torch.Tensor | None:
        needed, runs = self._pass.needed, self._pass.runs
        if needed is None:
            return None
        assert runs is not None
        whole = output.new_zeros(1, sum(runs.lengths), output.shape[-1])
        return whole.index_copy(1, needed.tokens, output)

    def _terms(self, index: int, component: Component, source: torch.Tensor) -> _Terms:
        factor_a, factor_b = component.factors[index]
        scaling, mask, weight, runs = self.settings.scaling, None, component.weight, self._pass.runs
        if component.dropout and self._pass.masks is not None:
            mask = self._pass.masks(index, source.shape[-1])
            # The 1 / keep of dropout goes into the scaling: the masks stay 0 and 1.
            scaling /= self._pass.keep
        needed = self._pass.needed
        if needed is not None and index in self._in_last:
            mask = None if mask is None else mask.index_select(0, needed.tokens)
            weight = None if weight is None else weight.index_select(0, needed.tokens)
            runs = needed.runs
        if component.gates is not None:
            rows = source.reshape(-1, source.shape[-1])
            gates = component.gates[index].to(source.dtype).unsqueeze(-1)
            weight = grouped_product(rows, gates, runs).float().sigmoid().view(-1)
        return factor_a, factor_b, scaling, mask, weight, runs


def _last_perceptron(model: nn.Module) -> tuple[str, nn.Module | None]:
    """Return (path, module) of the perceptron of a Hugging Face decoder's last layer; ("", None) where there is none.

    It is known by its place, ``layers.<number>.mlp``, whose output such architectures add to the residual sum.
    """
    layer = re.compile(r"(.*\.)?layers\.\d+\.mlp")
    found = [(path, module) for path, module in model.named_modules() if layer.fullmatch(path)]
    return found[-1] if found else ("", None)


# A [K, r, d_in], B [K, d_out, r], scaling, dropout mask [tokens, d_in], weight per row [rows], runs.
_Terms = tuple["torch.Tensor | None", "torch.Tensor | None", float, "Mask | None", "torch.Tensor | None", "Runs | None"]
_NO_TERMS: _Terms = (None, None, 1.0, None, None, None)


def _masked(rows: torch.Tensor, mask: Mask | None, in_place: bool = False) -> torch.Tensor:
    if mask is None:
        return rows
    if isinstance(mask, DrawnMask):
        return mask.times(rows)
    # bfloat16 as whole numbers, whose products with bytes take a third of the time.
    numbers = rows.view(torch.int16) if (rows.dtype, mask.dtype) == (torch.bfloat16, torch.uint8) else rows
    return (numbers.mul_(mask) if in_place else numbers * mask).view(rows.dtype)


def _low_rank(source: torch.Tensor, terms: _Terms) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return (A_k (mask * x) [tokens, r], weight per token [tokens, 1] or None)."""
    factor_a, _, _, mask, weight, runs = terms
    assert factor_a is not None
    rows = source.reshape(-1, source.shape[-1])
    low = grouped_product(_masked(rows, mask), factor_a.to(source.dtype).transpose(1, 2), runs)
    if weight is not None:
        weight = weight.to(source.dtype).repeat_interleave(len(rows) // weight.numel()).unsqueeze(1)
    return low, weight


def _weighted(low: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    return low if weight is None else low * weight


def _save(
    ctx: Any,
    terms: _Terms,
    source: torch.Tensor,
    low: torch.Tensor,
    weight: torch.Tensor | None,
    *more: torch.Tensor,
) -> None:
    """Keep what :func:`_adapter_gradients` needs: of mask * x the layer's input, which layers of one input share."""
    factor_a, factor_b, ctx.scaling, mask, _, ctx.runs = terms
    ctx.drawn = mask if isinstance(mask, DrawnMask) else None
    ctx.save_for_backward(None if ctx.drawn else mask, source, factor_a, factor_b, weight, low, *more)


def _adapter_gradients(
    ctx: Any,
    saved: Sequence[Any],
    gradient: torch.Tensor,
    source_needed: bool,
    factors_needed: bool,
    weight_needed: bool,
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return the gradients of the adapters' term: (source [tokens, d_in], A, B, weight per token [tokens])."""
    mask, rows, factor_a, factor_b, weight, low, *_ = saved
    if ctx.drawn is not None:
        mask = ctx.drawn
    scaling, runs = ctx.scaling, ctx.runs
    clients = factor_a.shape[0]
    gradient = gradient.reshape(-1, gradient.shape[-1])
    # The scaling goes onto the low-rank side, the smallest tensors at hand.
    gradient_low = grouped_product(gradient, factor_b.to(gradient.dtype), runs) * scaling
    gradient_source = gradient_a = gradient_b = gradient_weight = None
    if weight_needed:
        gradient_weight = (gradient_low * low).float().sum(1)
    gradient_low = _weighted(gradient_low, weight)
    if factors_needed:
        gradient_b = grouped_outer(gradient, _weighted(low, weight) * scaling, clients, runs).to(factor_b.dtype)
        rows = rows.reshape(-1, rows.shape[-1])
        gradient_a = grouped_outer(gradient_low, _masked(rows, mask), clients, runs).to(factor_a.dtype)
    if source_needed:
        gradient_source = grouped_product(gradient_low, factor_a.to(gradient.dtype), runs)
        gradient_source = _masked(gradient_source, mask, in_place=True)
    return gradient_source, gradient_a, gradient_b, gradient_weight


class _AdaptedLinear(torch.autograd.Function):
    """x W^T + b + scaling * weight * B_k A_k (mask * x) for the rows of each client k, W and b frozen.

    One function instead of a chain of operations: the adapters' term is added in place, scaling is free, and float32
    products on a CPU take the fastest exact route.
    """

    @staticmethod
    def forward(
        ctx: Any, source: torch.Tensor, frozen: torch.Tensor, bias: torch.Tensor | None, *terms: Any
    ) -> torch.Tensor:
        factor_a, factor_b, scaling, _, _, runs = terms
        with fast_products():
            output = nn.functional.linear(source, frozen, bias)
            ctx.adapted = factor_a is not None
            if factor_a is None:
                ctx.save_for_backward(frozen)
                return output
            low, weight = _low_rank(source, terms)
            up = factor_b.to(source.dtype).transpose(1, 2)
            flat = output.view(-1, output.shape[-1])
            grouped_sum(flat, _weighted(low, weight), up, runs, scaling, in_place=True)
        _save(ctx, terms, source, low, weight, frozen)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        saved = ctx.saved_tensors  # once: recomputed layers give them once
        frozen = saved[-1]
        gradient_source = gradient_a = gradient_b = gradient_weight = None
        with fast_products():
            if ctx.adapted:
                needed = (ctx.needs_input_grad[place] for place in (0, 3, 7))
                gradient_source, gradient_a, gradient_b, gradient_weight = _adapter_gradients(
                    ctx, saved, gradient, *needed
                )
            if ctx.needs_input_grad[0]:
                rows, through = gradient.reshape(-1, gradient.shape[-1]), gradient_source
                gradient_source = rows @ frozen if through is None else torch.addmm(through, rows, frozen, out=through)
                gradient_source = gradient_source.view(*gradient.shape[:-1], -1)
        return gradient_source, None, None, gradient_a, gradient_b, None, None, gradient_weight, None


class _AddAdapters(torch.autograd.Function):
    """base + scaling * weight * B_k A_k (mask * x): the adapters' term on an output that another layer computed."""

    @staticmethod
    def forward(ctx: Any, base: torch.Tensor, source: torch.Tensor, *terms: Any) -> torch.Tensor:
        _, factor_b, scaling, _, _, runs = terms
        low, weight = _low_rank(source, terms)
        _save(ctx, terms, source, low, weight)
        up = factor_b.to(source.dtype).transpose(1, 2)
        flat = base.reshape(-1, base.shape[-1])
        return grouped_sum(flat, _weighted(low, weight), up, runs, scaling, in_place=False).view(base.shape)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        needed = (ctx.needs_input_grad[place] for place in (1, 2, 6))
        through, gradient_a, gradient_b, gradient_weight = _adapter_gradients(ctx, ctx.saved_tensors, gradient, *needed)
        source = None if through is None else through.view(*gradient.shape[:-1], through.shape[-1])
        return gradient, source, gradient_a, gradient_b, None, None, gradient_weight, None
