"""What a client learns of the mixture of its own adapter and a frozen companion: a weight, or a gate per token."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from favor.lm.lora import LoraState, gate_name
from favor.lm.stack import FlatLayout


class GateLayout:
    """Where each module's gate vector u [d_in] lies in one flat vector of ``size`` numbers (FedALT).

    The adapter's output has the weight a = sigmoid(u x) at a token whose input to the module is x, the companion's has
    1 - a = sigmoid(-u x). It is the softmax of two scores per module, which depends on their difference alone.
    """

    def __init__(self, layers: Mapping[str, nn.Linear]) -> None:
        self.sizes = {gate_name(path): layer.in_features for path, layer in layers.items()}
        self.size = sum(self.sizes.values())

    def flatten(self, gate: LoraState, device: torch.device) -> torch.Tensor:
        """Return the vectors as one [size]; zeros, an even mixture, for a gate without any."""
        if not gate:
            return torch.zeros(self.size, device=device)
        if gate.keys() != self.sizes.keys():
            raise ValueError("the gate's vectors are not those of the model's target modules")
        return torch.cat([gate[name] for name in self.sizes]).to(device)

    def vectors(self, flat: torch.Tensor, trainable: bool = False) -> list[torch.Tensor]:
        """Return u [K, d_in] per module of ``flat`` [K, size], as leaves if trainable."""
        parts = flat.detach().split(list(self.sizes.values()), dim=1)
        return [part.contiguous().requires_grad_(trainable) for part in parts]

    def collect(self, vectors: Sequence[torch.Tensor], gradients: torch.Tensor, positions: Sequence[int]) -> None:
        """Move the gradients of leaf ``vectors`` into the rows ``positions`` of ``gradients`` [clients, size]."""
        found = [vector.grad for vector in vectors]
        gradients[list(positions)] += torch.cat([grad for grad in found if grad is not None], dim=1)
        for vector in vectors:
            vector.grad = None

    def unflatten(self, flat: torch.Tensor) -> LoraState:
        """Return the vectors in ``flat`` [size] by name, as float32 CPU tensors of their own."""
        parts = flat.detach().float().cpu().split(list(self.sizes.values()))
        return {name: part.clone() for name, part in sorted(zip(self.sizes, parts, strict=True))}


class LearnedMixture:
    """K weights a in 0..1 of adapters' outputs a * own + (1 - a) * companion, and their gradients.

    A weight acts on factor B before the forward pass: a * (B A) = (a * B) A. With G the gradient at the scaled factor,
    dL/dB = a * G, and dL/da = <G_own, B_own> - <G_companion, B_companion>, which holds at a = 0 and a = 1 too.
    """

    def __init__(self, layout: FlatLayout, weights: Sequence[float], device: torch.device) -> None:
        self.weights = list(weights)
        self.second = layout.second_factors(device)
        self.companion_gradients = torch.zeros(len(weights), layout.size, device=device)

    def scaled(
        self, own: torch.Tensor, companion: torch.Tensor, positions: Sequence[int]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return both adapters [K, size] of the clients at ``positions``, each with its weight on factor B."""
        weights = torch.tensor([self.weights[place] for place in positions], device=own.device).unsqueeze(1)
        return own * self._scale(weights), companion * self._scale(1.0 - weights)

    def _scale(self, weights: torch.Tensor) -> torch.Tensor:
        return 1.0 + self.second * (weights - 1.0)

    def step(
        self, position: int, gradient: torch.Tensor, own: torch.Tensor, companion: torch.Tensor, rate: float
    ) -> None:
        """Turn ``gradient`` [size], taken at the scaled factors, into that of ``own``; move the weight down its own."""
        weight = self.weights[position]
        slope = torch.dot(self.second * gradient, own)
        slope -= torch.dot(self.second * self.companion_gradients[position], companion)
        gradient *= 1.0 + self.second * (weight - 1.0)
        self.weights[position] = min(1.0, max(0.0, weight - rate * float(slope)))
