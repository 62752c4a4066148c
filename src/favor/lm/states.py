"""Rank concatenation: two gated adapters as one."""

import torch

from favor.lm.lora import LoraState


def concatenate_rank(left: LoraState, right: LoraState, gate: float) -> LoraState:
    """Return the one adapter of rank r_left + r_right that computes gate * left + (1 - gate) * right exactly.

    A is stacked over the rank, B is weighted and stacked. With LoRA scaling alpha / rank kept the same (both
    arguments of the same settings: double rank and double alpha), its output is that of the gated pair.
    """
    if left.keys() != right.keys():
        raise ValueError("adapter states of different modules cannot be combined")
    joined: dict[str, torch.Tensor] = {}
    for name in left:
        if ".lora_A." in name:
            joined[name] = torch.cat([left[name], right[name]], dim=0)
        else:
            joined[name] = torch.cat([gate * left[name], (1.0 - gate) * right[name]], dim=1)
    return joined
