"""Models with random weights for the benchmarks: the demo's shape, and Qwen2.5-3B's in NF4."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, models

from favor.lm.base import BaseModel, wrap_model
from favor.lm.tokenizer import TextTokenizer
from favor.running.devices.leases import grow_in_place

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
    from transformers.models.qwen2 import Qwen2Config, Qwen2ForCausalLM

    grow_in_place()
    torch.manual_seed(0)
    dtype = dtype or (torch.bfloat16 if device == "cuda" else torch.float32)
    configuration = Qwen2Config(**SHAPES[shape], tie_word_embeddings=True, eos_token_id=1, bos_token_id=None)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        model = Qwen2ForCausalLM(configuration)
    torch.set_default_dtype(torch.float32)
    if quantise:
        _quantise(model, dtype)
    return wrap_model(model.to(device), TextTokenizer(Tokenizer(models.BPE())), f"random {shape}", dtype)


def _quantise(model: torch.nn.Module, dtype: torch.dtype) -> None:
    import bitsandbytes

    for path, layer in list(model.named_modules()):
        if type(layer) is not torch.nn.Linear or path == "lm_head":
            continue
        small = bitsandbytes.nn.Linear4bit(
            layer.in_features, layer.out_features, layer.bias is not None, compute_dtype=dtype, quant_type="nf4"
        )
        weight = layer.weight.detach().cpu()
        small.weight = bitsandbytes.nn.Params4bit(
            weight, requires_grad=False, quant_type="nf4", compress_statistics=True
        )
        small.bias = layer.bias
        small.support_avx512bf16_for_cpu = False
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, small.to(layer.weight.device))
