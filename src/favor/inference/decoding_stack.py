"""A stack of adapters for passes without gradients: layers that read the same input are computed as one product.

A decoding step multiplies a few rows by many small matrices. On a processor its time is then that of the calls, and not
of the arithmetic. Queries, keys and values read one input, and so do gate and up: there their weights are joined, and
the adapters' factors A with them. On a GPU a recorded step has no calls to save, and the weights stay as they are.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn

from favor.foundation.arithmetic import fast_products
from favor.lm.grouped import grouped_product, grouped_sum
from favor.lm.settings import Lora
from favor.lm.stack import Component, LoraStack

# Names of layers of one parent that architectures of transformers give the same input.
_SIBLINGS = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
# Rows per adapter from which oneDNN is faster than MKL at their products with its factors. Both are exact.
_MANY_ROWS = 32

# Of several layers as one: A [K, d_in, ranks], each one's B [K, rank, outputs], token gates [K, d_in, layers] or None.
_Factors = tuple[torch.Tensor, list[torch.Tensor], "torch.Tensor | None"]


@dataclass
class _Joined:
    """Adapted layers with one input, by their indices ``members``, and what a pass computes of them at once.

    ``weight`` [outputs, d_in] and ``bias``: theirs, end to end; ``factors``: those of each component. ``outputs``: what
    the layers that were not called yet will return at the input ``source``.
    """

    members: tuple[int, ...]
    layers: tuple[nn.Linear, ...]
    weight: torch.Tensor = field(init=False)
    bias: torch.Tensor | None = None
    factors: list[_Factors] = field(default_factory=list)
    source: torch.Tensor | None = None
    outputs: dict[int, torch.Tensor] = field(default_factory=dict)

    def join(self) -> None:
        """Lay the layers' weights end to end; each layer keeps its part of them, so that they are held once."""
        self.weight, self.bias = self.layers[0].weight, self.layers[0].bias
        if len(self.layers) == 1:
            return
        self.weight = torch.cat([layer.weight.detach() for layer in self.layers])
        parts = self.weight.split([layer.out_features for layer in self.layers])
        for layer, part in zip(self.layers, parts, strict=True):
            layer.weight.data = part
        if self.bias is not None:
            self.bias = torch.cat([layer.bias.detach() for layer in self.layers])

    def part(self) -> None:
        """Give every layer a weight of its own again, and let go of a pass that was broken off."""
        if len(self.layers) > 1:
            for layer in self.layers:
                layer.weight.data = layer.weight.data.clone()
        self.source, self.outputs = None, {}


class DecodingStack(LoraStack):
    """A :class:`LoraStack` whose passes need no gradients, take no dropout and hold as many rows for each adapter."""

    def __init__(self, model: nn.Module, settings: Lora) -> None:
        super().__init__(model, settings)
        self._joined = _groups(self.layers)
        self._group_of = {index: group for group in self._joined for index in group.members}

    @contextmanager
    def attached(self) -> Iterator[LoraStack]:
        """Adapt the layers for the duration of the context; see :meth:`LoraStack.attached`."""
        with super().attached():
            try:
                for group in self._joined:
                    group.join()
                yield self
            finally:
                for group in self._joined:
                    group.part()

    def set(self, components: Sequence[Component]) -> None:  # type: ignore[override]
        """Set what forward passes add from now on: ``components``, without dropout and runs."""
        super().set(components)
        for group in self._joined:
            group.source, group.outputs = None, {}
            group.factors = [_joined_factors(component, group.members) for component in components]

    def _plain(self, index: int, _layer: nn.Linear, source: torch.Tensor) -> torch.Tensor:
        group = self._group_of[index]
        if group.source is not source or index not in group.outputs:
            group.source, group.outputs = source, self._outputs(group, source)
        output = group.outputs.pop(index)
        if not group.outputs:
            group.source = None
        return output

    def _outputs(self, group: _Joined, source: torch.Tensor) -> dict[int, torch.Tensor]:
        """Return the outputs of the layers of a group, by their index."""
        rows = source.reshape(-1, source.shape[-1])
        with fast_products():
            output = nn.functional.linear(rows, group.weight, group.bias)
        parts = output.split([layer.out_features for layer in group.layers], dim=-1)
        for component, (first, seconds, gates) in zip(self._pass.components, group.factors, strict=True):
            with fast_products() if len(rows) >= _MANY_ROWS * len(first) else nullcontext():
                low = grouped_product(rows, first, None)
                weight = self._weight(component, gates, rows)
                low = low if weight is None else low.mul_(weight)
                for part, own, second in zip(parts, low.split(self.settings.rank, dim=-1), seconds, strict=True):
                    grouped_sum(part, own, second, None, self.settings.scaling, in_place=True)
        return {index: part.view(*source.shape[:-1], -1) for index, part in zip(group.members, parts, strict=True)}

    def _weight(self, component: Component, gates: torch.Tensor | None, rows: torch.Tensor) -> torch.Tensor | None:
        """Return the weights of a component's rows, [rows, 1] or for every column of the low-rank side, or None."""
        if gates is not None:
            weight = grouped_product(rows, gates.to(rows.dtype), None).float().sigmoid().to(rows.dtype)
            return weight.repeat_interleave(self.settings.rank, dim=1)
        if component.weight is None:
            return None
        weight = component.weight.to(rows.dtype)
        return weight.repeat_interleave(len(rows) // weight.numel()).unsqueeze(1)


def _groups(layers: dict[str, nn.Linear]) -> list[_Joined]:
    """Return the plain ones among the adapted ``layers``, on a processor those together that read one input."""
    members: dict[tuple[str, tuple[str, ...], bool], list[int]] = {}
    for index, (path, layer) in enumerate(layers.items()):
        if type(layer) is not nn.Linear:
            continue
        parent, _, name = path.rpartition(".")
        family = next((names for names in _SIBLINGS if name in names and layer.weight.device.type == "cpu"), (name,))
        members.setdefault((parent, family, layer.bias is None), []).append(index)
    every = list(layers.values())
    return [_Joined(tuple(indices), tuple(every[index] for index in indices)) for indices in members.values()]


def _joined_factors(component: Component, members: Sequence[int]) -> _Factors:
    """Return a component's factors of several layers as one: each has its own columns of A, and a B of its own."""
    gates = None
    if component.gates is not None:
        gates = torch.stack([component.gates[index] for index in members], dim=-1)
    firsts, seconds = zip(*(component.factors[index] for index in members), strict=True)
    first = firsts[0] if len(members) == 1 else torch.cat(firsts, dim=1)
    return first.transpose(1, 2), [second.transpose(1, 2) for second in seconds], gates
