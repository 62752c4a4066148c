"""Algebra of LoRA adapter states: differences, sums, weighted means, norms, rank concatenation.

All functions return new tensors that share no storage with their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from favor.lm.lora import LoraState


def _check_same_tensors(left: LoraState, right: LoraState) -> None:
    if left.keys() != right.keys() or any(left[name].shape != right[name].shape for name in left):
        raise ValueError("adapter states of different tensors cannot be combined")


def copy(state: LoraState) -> LoraState:
    """Return a copy of ``state``."""
    return {name: tensor.clone() for name, tensor in state.items()}


def subtract(left: LoraState, right: LoraState) -> LoraState:
    """Return left - right, tensor by tensor in float32 (Eqs. residual_pack and shared_delta)."""
    _check_same_tensors(left, right)
    return {name: left[name] - right[name] for name in left}


def add(left: LoraState, right: LoraState) -> LoraState:
    """Return left + right, tensor by tensor in float32 (the reconstruction in Eq. favor_model).

    Training with an offset forms its factors by this very addition, so endpoint + residual gives the trained factors
    bit for bit.
    """
    _check_same_tensors(left, right)
    return {name: left[name] + right[name] for name in left}


def scale(state: LoraState, factor: float) -> LoraState:
    """Return factor * state."""
    return {name: tensor * factor for name, tensor in state.items()}


def weighted_mean(states: Mapping[str, LoraState], weights: Mapping[str, float]) -> LoraState:
    """Return sum_i w_i state_i / sum_i w_i over clients (Eq. shared_aggregation_delta).

    Accumulated in float64 in the order of sorted client names, then rounded to float32 once: the result does not
    depend on the order in which the clients are given.
    """
    names = sorted(states)
    if not names or set(names) != set(weights):
        raise ValueError("weighted_mean needs at least one state and one weight a state")
    total = sum(float(weights[name]) for name in names)
    if not total > 0 or any(weights[name] < 0 for name in names):
        raise ValueError("weights must not be negative and must not all be zero")
    first = states[names[0]]
    for name in names[1:]:
        _check_same_tensors(first, states[name])
    mean: LoraState = {}
    for tensor in first:
        accumulator = torch.zeros_like(first[tensor], dtype=torch.float64)
        for name in names:
            accumulator.add_(states[name][tensor].double(), alpha=float(weights[name]) / total)
        mean[tensor] = accumulator.float()
    return mean


def squared_norm(state: LoraState) -> float:
    """Return the sum of squared Frobenius norms over the factor tensors (Eq. shared_objective), in float64."""
    return sum(float(torch.sum(state[name].double() ** 2)) for name in sorted(state))


def equal(left: LoraState, right: LoraState) -> bool:
    """Return whether two states have the same tensors, bit for bit (a NaN equals nothing)."""
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def concatenate_rank(left: LoraState, right: LoraState, gate: float) -> LoraState:
    """Return the one adapter of rank r_left + r_right that computes gate * left + (1 - gate) * right exactly.

    A is stacked over the rank, B is weighted and stacked. With LoRA scaling alpha / rank kept the same (both
    arguments of the same settings: double rank and double alpha), its output is that of the gated pair.
    """
    if left.keys() != right.keys():
        raise ValueError("adapter states of different modules cannot be combined")
    joined: LoraState = {}
    for name in left:
        if ".lora_A." in name:
            joined[name] = torch.cat([left[name], right[name]], dim=0)
        else:
            joined[name] = torch.cat([gate * left[name], (1.0 - gate) * right[name]], dim=1)
    return joined
