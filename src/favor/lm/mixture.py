"""What a client learns of the mixture of its own adapter and a frozen companion: a weight, or a gate per token."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from favor.lm.lora import gate_name
from favor.lm.stack import FactorLayout, Layout


def gate_layout(layers: Mapping[str, nn.Linear]) -> Layout:
    """Return where each module's gate vector u [d_in] lies in one flat vector (FedALT).

    The adapter's output has the weight a = sigmoid(u x) at a token whose input to the module is x, the companion's has
    1 - a = sigmoid(-u x). It is the softmax of two scores per module, which depends on their difference alone.
    """
    return Layout({gate_name(path): (layer.in_features,) for path, layer in layers.items()})


class LearnedMixture:
    """K weights a in 0..1 of adapters' outputs a * own + (1 - a) * companion, and their gradients.

    A weight acts on factor B before the forward pass: a * (B A) = (a * B) A. With G the gradient at the scaled factor,
    dL/dB = a * G, and dL/da = <G_own, B_own> - <G_companion, B_companion>, which holds at a = 0 and a = 1 too.
    """

    def __init__(self, layout: FactorLayout, weights: Sequence[float], device: torch.device) -> None:
        self.weights = list(weights)
        self.second = layout.marks([name for name in layout.slots if ".lora_B." in name], device)
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
