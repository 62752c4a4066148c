"""Products of each client's rows with its own factor, where clients hold contiguous runs of unequal lengths."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


class Runs:
    """The contiguous runs of tokens that belong to each of K clients in a packed row: ``lengths`` in tokens."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths = tuple(lengths)
        self.equal = len(set(self.lengths)) == 1
        self.ends = torch.from_numpy(np.cumsum(self.lengths, dtype=np.int32)).to(device)


@dataclass(frozen=True)
class Needed:
    """The tokens of a packed row whose final states are used, in order, and how many of each client's they are."""

    tokens: torch.Tensor
    runs: Runs


def grouped_product(rows: torch.Tensor, factors: torch.Tensor, runs: Runs | None) -> torch.Tensor:
    """Return each client's rows times its own factor: [tokens, n] and [K, n, m] give [tokens, m].

    ``runs`` says which rows are whose; None: as many for each client.
    """
    clients, width = factors.shape[0], rows.shape[-1]
    if clients == 1:
        return rows @ factors[0]
    if runs is None or runs.equal:
        return torch.bmm(rows.view(clients, -1, width), factors).view(len(rows), -1)
    if _groupable(rows, factors):
        return nn.functional.grouped_mm(rows, factors, offs=runs.ends)
    parts = rows.split(runs.lengths)
    if torch.is_grad_enabled():
        return torch.cat([part @ factor for part, factor in zip(parts, factors, strict=True)])
    product = rows.new_empty(len(rows), factors.shape[-1])
    for part, factor, out in zip(parts, factors, product.split(runs.lengths), strict=True):
        torch.mm(part, factor, out=out)
    return product


def grouped_sum(
    base: torch.Tensor, rows: torch.Tensor, factors: torch.Tensor, runs: Runs | None, scaling: float, in_place: bool
) -> torch.Tensor:
    """Return ``base`` [tokens, m] plus ``scaling`` times :func:`grouped_product`, ``in_place`` or as a new tensor."""
    clients, out = factors.shape[0], base if in_place else None
    if clients == 1:
        return torch.addmm(base, rows, factors[0], alpha=scaling, out=out)
    if runs is None or runs.equal:
        one, other = base.view(clients, -1, base.shape[-1]), rows.view(clients, -1, rows.shape[-1])
        out = one if in_place else None
        return torch.baddbmm(one, other, factors, alpha=scaling, out=out).view(base.shape)
    if _groupable(rows, factors):
        return torch.add(base, grouped_product(rows, factors, runs), alpha=scaling, out=out)
    total = base if in_place else base.clone()
    for own, part, factor in zip(total.split(runs.lengths), rows.split(runs.lengths), factors, strict=True):
        own.addmm_(part, factor, alpha=scaling)
    return total


def grouped_outer(left: torch.Tensor, right: torch.Tensor, clients: int, runs: Runs | None) -> torch.Tensor:
    """Return each client's ``left^T right`` over its own rows: [tokens, n] and [tokens, m] give [K, n, m]."""
    if clients == 1:
        return (left.t() @ right).unsqueeze(0)
    if runs is None or runs.equal:
        one, other = (rows.view(clients, -1, rows.shape[-1]) for rows in (left, right))
        return torch.bmm(one.transpose(1, 2), other)
    if _groupable(left, right):
        return nn.functional.grouped_mm(left.t(), right, offs=runs.ends)
    parts = zip(left.split(runs.lengths), right.split(runs.lengths), strict=True)
    return torch.stack([one.t() @ other for one, other in parts])


def _groupable(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether torch's grouped product serves: on a Hopper card or a later one, in bfloat16, rows of 16 bytes.

    On earlier cards it waits for the GPU to learn where the groups end, and then takes them one by one.
    """
    if one.device.type == "cpu" or (one.is_cuda and torch.cuda.get_device_capability(one.device) < (9, 0)):
        return False
    widths = (one.shape[-1], other.shape[-1], *other.shape[-2:][: other.dim() - 2])
    return one.dtype == torch.bfloat16 and all(width % 8 == 0 for width in widths)
