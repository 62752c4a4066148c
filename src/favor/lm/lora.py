"""LoRA adapter states: their tensors' names and shapes, initial values, size on disk and export in PEFT's format.

A state maps the names under which PEFT saves its tensors to float32 CPU tensors: for a projection with d_in inputs
and d_out outputs, ``base_model.model.<module>.lora_A.weight`` [rank, d_in] and ``...lora_B.weight`` [d_out, rank].
"""

import difflib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from favor.foundation.errors import UserError
from favor.foundation.files import write_json
from favor.foundation.lazy import LazyMapping
from favor.foundation.seeds import derive_seed
from favor.foundation.tensors import write_safetensors
from favor.lm.settings import Lora

LoraState = Mapping[str, torch.Tensor]
Shapes = dict[str, tuple[int, ...]]

PEFT_PREFIX = "base_model.model."


def torch_generator(seed: int, purpose: str, *ids: str | int) -> torch.Generator:
    """Return a torch generator for the stream named by ``seed``, ``purpose`` and ``ids``."""
    return torch.Generator().manual_seed(derive_seed(seed, purpose, *ids))


def factor_name(module: str, factor: str) -> str:
    """Return PEFT's name of factor "A" or "B" of the module at dotted path ``module``."""
    return f"{PEFT_PREFIX}{module}.lora_{factor}.weight"


def gate_name(module: str) -> str:
    """Return the name of the gate vector of the module at dotted path ``module``; PEFT knows no such tensor."""
    return f"{PEFT_PREFIX}{module}.gate"


def target_layers(model: nn.Module, settings: Lora) -> dict[str, nn.Linear]:
    """Return the linear layers that LoRA adapts, by dotted path, sorted by path.

    Without names these are all but the output layer, as PEFT's "all-linear" takes them.

    Raises ``UserError`` where the model has no linear layer of a configured name beside the output layer, through which
    losses and logits go without an adapter. It names the nearest there are, and what LoRA does not adapt here: GPT-2's
    ``Conv1D`` and experts whose weights are one tensor. Without names these are refused, because the default would
    leave a part of every block out.
    """
    output = getattr(model, "get_output_embeddings", lambda: None)()
    layers = {
        path: module
        for path, module in sorted(model.named_modules())
        if isinstance(module, nn.Linear) and module is not output
    }
    names = {path: path.split(".")[-1] for path in layers}
    available, refused = sorted(set(names.values())), _refused(model)
    others = f"{', '.join(refused)}: Conv1D or fused expert layers, which are not supported" if refused else ""
    if settings.target_modules is None:
        if refused or not layers:
            found = others or "no linear layers but the output layer"
            raise UserError(f"target_modules: the model has {found}; you can name: {', '.join(available) or 'none'}")
        return layers
    missing = sorted(set(settings.target_modules) - set(available))
    if missing:
        near = {name for wanted in missing for name in difflib.get_close_matches(wanted, available, n=2, cutoff=0.3)}
        instead = f" ({others})" if others else ""
        raise UserError(
            f"target_modules: the model has no linear layer named {', '.join(missing)} beside the output layer"
            f"{instead}; the nearest names are: {', '.join(sorted(near) or available) or 'none'}"
        )
    return {path: layer for path, layer in layers.items() if names[path] in settings.target_modules}


def _refused(model: nn.Module) -> list[str]:
    """Return the names of projections that are not linear layers: Conv1D, and stacks of experts' matrices."""
    fused = {name for name, weight in model.named_parameters() if weight.ndim == 3 and "expert" in name}
    convolutions = {path for path, module in model.named_modules() if type(module).__name__ == "Conv1D"}
    return sorted({path.split(".")[-1] for path in fused | convolutions})


def state_shapes(model_or_config: Any, settings: Lora) -> Shapes:
    """Return the shape of every tensor of an adapter state, sorted by name, for a model or a model configuration.

    A configuration is instantiated on torch's meta device: no weights are made.
    """
    model = model_or_config
    if not isinstance(model, nn.Module):
        from transformers import AutoModelForCausalLM

        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(model_or_config)
    shapes: Shapes = {}
    for path, layer in target_layers(model, settings).items():
        shapes[factor_name(path, "A")] = (settings.rank, layer.in_features)
        shapes[factor_name(path, "B")] = (layer.out_features, settings.rank)
    return dict(sorted(shapes.items()))


def initial_state(model_or_config: Any, settings: Lora, seed: int) -> LoraState:
    """Return PEFT's default initial adapter: A Kaiming-uniform (a = sqrt 5, so within 1/sqrt(d_in)), B zero.

    Every tensor has its own stream, so the values do not depend on the order of modules.
    """
    state: dict[str, torch.Tensor] = {}
    for name, shape in state_shapes(model_or_config, settings).items():
        if ".lora_A." in name:
            bound = 1.0 / math.sqrt(shape[1])
            generator = torch_generator(seed, "LoRA initialisation", name)
            state[name] = torch.empty(shape).uniform_(-bound, bound, generator=generator)
        else:
            state[name] = torch.zeros(shape)
    return state


def from_arrays(arrays: Mapping[str, np.ndarray]) -> LoraState:
    """Return the state that arrays hold, sorted by name; each tensor is copied when it is asked for, and not before."""
    return LazyMapping(sorted(arrays), lambda name: torch.tensor(arrays[name], dtype=torch.float32))


def export_peft(state: LoraState, settings: Lora, base_name: str, folder: str | Path) -> None:
    """Write ``adapter_config.json`` and ``adapter_model.safetensors`` so that ``PeftModel.from_pretrained`` loads them.

    The tensors are written before the configuration, so a folder with a configuration is whole. Equal states give
    equal bytes (``target_modules`` are those of the state, sorted; PEFT itself writes them in set order).
    """
    alpha = int(settings.alpha) if float(settings.alpha).is_integer() else settings.alpha
    write_safetensors(state, Path(folder) / "adapter_model.safetensors", {"format": "pt"})
    configuration = {
        "base_model_name_or_path": base_name,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_alpha": alpha,
        "lora_dropout": settings.dropout,
        "modules_to_save": None,
        "peft_type": "LORA",
        "r": settings.rank,
        "target_modules": sorted({name.split(".lora_")[0].rpartition(".")[2] for name in state}),
        "task_type": "CAUSAL_LM",
    }
    write_json(configuration, Path(folder) / "adapter_config.json")


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
