"""Key-value caches that are written in place: transformers' own copies all it holds at every token."""

from collections.abc import Callable
from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer


class _GrowingLayer(DynamicLayer):
    """One layer's keys and values [rows, heads, capacity, size], of which the first ``length`` positions are filled."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity, self.length = capacity, 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._all_keys = key_states.new_empty(*key_states.shape[:2], self.capacity, key_states.shape[-1])
        self._all_values = value_states.new_empty(*value_states.shape[:2], self.capacity, value_states.shape[-1])

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[2]
        self._all_keys[:, :, self.length : end] = key_states
        self._all_values[:, :, self.length : end] = value_states
        self.length = end
        self.keys, self.values = self._all_keys[:, :, :end], self._all_values[:, :, :end]
        return self.keys, self.values


class _StaticLayer(DynamicLayer):
    """One layer's keys and values [rows, heads, capacity, size], all given at every step, filled or not.

    They are written at the positions that ``at`` returns, a tensor, so that a CUDA graph follows it.
    """

    def __init__(self, capacity: int, at: Callable[[], torch.Tensor]) -> None:
        super().__init__()
        self.capacity, self.at = capacity, at

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        # Zeros: what an attention mask hides is still multiplied, by zero.
        self.keys = key_states.new_zeros(*key_states.shape[:2], self.capacity, key_states.shape[-1])
        self.values = value_states.new_zeros(*value_states.shape[:2], self.capacity, value_states.shape[-1])

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self.keys.index_copy_(2, self.at(), key_states)
        self.values.index_copy_(2, self.at(), value_states)
        return self.keys, self.values


def static_cache(configuration: Any, capacity: int, at: Callable[[], torch.Tensor]) -> Cache:
    """Return a cache of ``capacity`` positions, in which tokens are written at the positions that ``at`` returns."""
    layers = configuration.get_text_config().num_hidden_layers
    return Cache(layers=[_StaticLayer(capacity, at) for _ in range(layers)])


def growing_cache(configuration: Any, capacity: int) -> Cache:
    """Return an empty cache for a model's layers that holds up to ``capacity`` positions."""
    layers = configuration.get_text_config().num_hidden_layers
    return Cache(layers=[_GrowingLayer(capacity) for _ in range(layers)])
