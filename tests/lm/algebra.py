"""Adapter states in tests: comparison, difference, sum and squared norm, tensor by tensor."""

import torch


def equal(left, right) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def subtract(left, right) -> dict[str, torch.Tensor]:
    return {name: left[name] - right[name] for name in left}


def add(left, right) -> dict[str, torch.Tensor]:
    return {name: left[name] + right[name] for name in left}


def copy(state) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in state.items()}


def squared_norm(state) -> float:
    return sum(float(torch.sum(state[name].double() ** 2)) for name in sorted(state))
