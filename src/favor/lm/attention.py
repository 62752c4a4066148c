"""How the attention layers of a Hugging Face model attend: by a function of ours, while a context lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

_SHARED = "favor_shared_heads"


@contextmanager
def attention_by(model: nn.Module, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let the attention layers call ``function``, registered with transformers as ``name``."""
    from transformers import AttentionInterface, PreTrainedModel

    AttentionInterface.register(name, function)
    configurations: dict[int, Any] = {
        id(module.config): module.config for module in model.modules() if isinstance(module, PreTrainedModel)
    }
    before = {key: configuration._attn_implementation for key, configuration in configurations.items()}
    try:
        for configuration in configurations.values():
            configuration._attn_implementation = name
        yield
    finally:
        for key, configuration in configurations.items():
            configuration._attn_implementation = before[key]


@contextmanager
def shared_heads(model: nn.Module) -> Iterator[None]:
    """Let a model that attends by torch's function read keys and values that heads share once, and not once per head.

    It is for steps of one token, to which transformers would copy them: for Qwen2.5-3B eight times.
    """
    configuration: Any = model.config
    if configuration._attn_implementation != "sdpa":
        yield
        return
    with attention_by(model, _SHARED, _attend_one):
        yield


def _attend_one(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Return the attention [rows, tokens, heads, size]; the heads that share keys are one head's queries to them.

    ``query`` [rows, heads, tokens, size], ``key`` and ``value`` [rows, shared heads, positions, size], the mask
    [rows, 1, tokens, positions] of True where a position is seen.
    """
    if query.shape[2] > 1:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    rows, heads, _, size = query.shape
    queries = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    attended = nn.functional.scaled_dot_product_attention(queries, key, value, attention_mask, scale=scaling)
    return attended.reshape(rows, 1, heads, value.shape[-1]), None
