"""Models with random weights for the benchmarks: the demo's shape, and Qwen2.5-3B's in NF4. What work on one takes."""

import resource
import time
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from favor.lm.base import BaseModel
from favor.lm.random_base import random_base as random_weights
from favor.running.devices.leases import grow_in_place

T = TypeVar("T")
SHAPES: dict[str, dict[str, Any]] = {
    "demo": {
        "vocab_size": 4096,
        "hidden_size": 128,
        "intermediate_size": 384,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
    },
    "qwen2.5-3b": {
        "vocab_size": 151936,
        "hidden_size": 2048,
        "intermediate_size": 11008,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "max_position_embeddings": 32768,
    },
}


def random_base(shape: str, quantise: bool, device: str, dtype: torch.dtype | None = None) -> BaseModel:
    """Return a Qwen2 of the named shape with random weights, its linear layers in NF4 if ``quantise``.

    ``dtype``: bfloat16 on a GPU and float32 on a processor if None.
    """
    from transformers.models.qwen2 import Qwen2Config

    grow_in_place()
    torch.manual_seed(0)
    dtype = dtype or (torch.bfloat16 if device == "cuda" else torch.float32)
    configuration = Qwen2Config(**SHAPES[shape], tie_word_embeddings=True, eos_token_id=1, bos_token_id=None)
    return random_weights(configuration, quantise, device, dtype, f"random {shape}")


def timed(device: str, work: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """Return the result of ``work``, and its seconds and peak memory."""
    on_gpu = device == "cuda"
    if on_gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    started = time.monotonic()
    result = work()
    if on_gpu:
        torch.cuda.synchronize()
    seconds = time.monotonic() - started
    memory = torch.cuda.max_memory_allocated() if on_gpu else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return result, {"peak_mib": memory / 2**20, "seconds": seconds}
