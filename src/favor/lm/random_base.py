"""A base model of a given shape with random weights: its speed is the real one's, and nothing is loaded."""

from typing import Any

import torch
from tokenizers import Tokenizer, models

from favor.lm.base import BaseModel, wrap_model
from favor.lm.tokenizer import TextTokenizer


def random_base(
    configuration: Any, quantise: bool, device: str, dtype: torch.dtype, title: str = "random weights"
) -> BaseModel:
    """Return a model of a transformers ``configuration``, its linear layers in NF4 if ``quantise``."""
    from transformers import AutoModelForCausalLM

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = AutoModelForCausalLM.from_config(configuration)
    finally:
        torch.set_default_dtype(before)
    if quantise:
        _quantise(model, dtype)
    return wrap_model(model.to(device), TextTokenizer(Tokenizer(models.BPE())), title, dtype)


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
