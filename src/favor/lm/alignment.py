"""Style alignment: pooled response states, a projection head per client, cosine to the author target."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from favor.lm.lora import torch_generator
from favor.lm.settings import WeightedAlignment
from favor.lm.stack import Layout


def head_layout(hidden_size: int, settings: WeightedAlignment, style_size: int) -> Layout:
    """Return where the projection head's parameters lie in one flat vector.

    Linear(d, hidden), GELU, dropout, Linear(hidden, style), LayerNorm: the "lightweight 2-layer MLP" of
    Eq. projected_style, with the same closing LayerNorm as the style encoder.
    """
    return Layout(
        {
            "first.weight": (settings.hidden, hidden_size),
            "first.bias": (settings.hidden,),
            "second.weight": (style_size, settings.hidden),
            "second.bias": (style_size,),
            "norm.weight": (style_size,),
            "norm.bias": (style_size,),
        }
    )


def initial_head(layout: Layout, stage_seed: int) -> torch.Tensor:
    """Return initial values [size]: torch's defaults (uniform within 1/sqrt(fan-in); LayerNorm 1 and 0)."""
    generator = torch_generator(stage_seed, "projection head")
    parts = []
    for name, (_, shape) in layout.slots.items():
        if name.startswith("norm"):
            parts.append(torch.full(shape, 1.0 if name.endswith("weight") else 0.0))
        else:
            fan_in = layout.slots[f"{name.split('.')[0]}.weight"][1][1]
            bound = 1.0 / math.sqrt(fan_in)
            parts.append(torch.empty(shape).uniform_(-bound, bound, generator=generator))
    return torch.cat([part.reshape(-1) for part in parts])


def head_views(layout: Layout, flat: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the heads' parameters by name as leaf views of ``flat`` [K, size]."""
    return {name: layout.view(flat, name).detach().requires_grad_() for name in layout.slots}


def project(head: dict[str, torch.Tensor], pooled: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Return norm(P_psi(h)) [K, n, style] for pooled states [K, n, d] of K clients (Eq. projected_style).

    ``mask`` [K, n, hidden] is the dropout mask, already divided by the rate of keeping, or None.
    """
    hidden = torch.baddbmm(head["first.bias"].unsqueeze(1), pooled, head["first.weight"].transpose(1, 2))
    hidden = nn.functional.gelu(hidden)
    if mask is not None:
        hidden = hidden * mask
    out = torch.baddbmm(head["second.bias"].unsqueeze(1), hidden, head["second.weight"].transpose(1, 2))
    out = nn.functional.layer_norm(out, out.shape[-1:])
    out = out * head["norm.weight"].unsqueeze(1) + head["norm.bias"].unsqueeze(1)
    return nn.functional.normalize(out, dim=-1)


def head_dropout(stage_seed: int, counter: int, rows: int, settings: WeightedAlignment) -> torch.Tensor:
    """Return the head's dropout mask [rows, hidden] for one micro-batch of a client's stage."""
    generator = torch_generator(stage_seed, "projection dropout", counter)
    keep = 1.0 - settings.dropout
    return (torch.rand(rows, settings.hidden, generator=generator) < keep).float().div_(keep)


def pooling_scales(supervised: Sequence[int], settings: WeightedAlignment) -> tuple[np.ndarray, np.ndarray]:
    """Return for one micro-batch (1 / positions, validity) of each pooled state.

    ``supervised`` counts the positions of each row whose label is not ignored. With "minibatch" pooling there is one
    state over all rows (Eq. pooled_hidden); with "example" pooling there is one per row, all of them valid where rows
    have at least ``minimum_tokens`` positions on average (as the released trainers ask).
    """
    counts = np.asarray(supervised, dtype=np.float64)
    if settings.pooling == "minibatch":
        counts = counts.sum(keepdims=True)
        return 1.0 / np.maximum(counts, 1.0), counts > 0
    return 1.0 / np.maximum(counts, 1.0), np.full(len(counts), counts.mean() >= settings.minimum_tokens)
