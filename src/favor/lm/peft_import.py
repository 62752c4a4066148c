"""PEFT adapters that were trained elsewhere (TRL, Unsloth, Axolotl, LLaMA-Factory), read as adapter states."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from favor.foundation.errors import UserError
from favor.foundation.names import printable
from favor.foundation.received import Received, received_json
from favor.lm.lora import LoraState, state_shapes
from favor.lm.settings import Lora

CONFIGURATION, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
# What a plain LoRA adapter does not have, by the key of its configuration.
_REFUSED = (
    "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "layer_replication", "fan_in_fan_out",
    "alora_invocation_tokens", "trainable_token_indices", "target_parameters", "lora_bias", "use_qalora", "use_bdlora",
    "arrow_config", "kasa_config", "velora_config", "monteclora_config",
)  # fmt: skip
# Ways to start that leave the base model's weights alone. PiSSA, OLoRA, CorDA and others take a part out of them, which
# PEFT does again when it loads the adapter.
_STARTS = (True, False, None, "gaussian", "orthogonal", "eva", "mica")


def import_peft(folders: Iterable[Path]) -> tuple[dict[str, LoraState], Lora]:
    """Return the adapter state in every folder, by its name, and the settings that all of them have.

    Raises ``UserError`` with the folder for an adapter that is not a plain LoRA adapter in PEFT's format, and where two
    have another rank, scale or other modules: they generate in one stack.
    """
    states: dict[str, LoraState] = {}
    settings: dict[str, Lora] = {}
    for folder in folders:
        configuration = _configuration(folder)
        states[folder.name] = _state(folder / WEIGHTS)
        settings[folder.name] = _settings(folder, configuration, states[folder.name])
    names = list(settings)
    for name in names[1:]:
        for key in ("rank", "alpha", "target_modules"):
            one, other = (getattr(settings[each], key) for each in (names[0], name))
            if one != other:
                raise UserError(
                    f"adapter '{name}': {key} {_plain(other)}, but '{names[0]}' has {_plain(one)}; the adapters of a "
                    "row must have the same rank, alpha and list of modules"
                )
    return states, settings[names[0]]


def check_shapes(states: Mapping[str, LoraState], model: nn.Module, settings: Lora) -> None:
    """Check that adapters fit a model. Raises ``UserError`` with the adapter and its first tensor that does not."""
    wanted = state_shapes(model, settings)
    for name, state in states.items():
        for tensor in sorted({*wanted, *state}):
            found = tuple(state[tensor].shape) if tensor in state else "missing"
            needed = wanted.get(tensor, "no such tensor")
            if found != needed:
                raise UserError(
                    f"adapter '{name}': {tensor} is {found}, the experiment's base model needs {needed}; adapters must "
                    "be trained on that model, on all of its layers"
                )


class _Kind(Received, extra="allow"):
    peft_type: Any


class _Configuration(_Kind):
    """What is read of ``adapter_config.json``."""

    r: Annotated[int, Field(ge=1, le=2**20)]
    lora_alpha: Annotated[float, Field(gt=0)]
    use_rslora: bool | None = False
    bias: str | None = "none"
    init_lora_weights: bool | str | None = True


def _configuration(folder: Path) -> _Configuration:
    path = folder / CONFIGURATION
    if not path.exists():
        raise UserError(f"{path}: file not found; the folder must hold an adapter in PEFT's format")
    remedy = "not an adapter of LoRA in PEFT's format; save the adapter again"
    kind = received_json(path, _Kind, remedy, links=True).peft_type
    if kind != "LORA":
        raise UserError(f"{path}: an adapter of type {printable(str(kind))}; only LORA is read")
    found = received_json(path, _Configuration, remedy, links=True)
    for key in _REFUSED:
        if (found.model_extra or {}).get(key):
            raise UserError(f"{path}: '{key}' is set; only plain LoRA adapters are read")
    if found.init_lora_weights not in _STARTS:
        given = printable(repr(found.init_lora_weights))
        raise UserError(
            f"{path}: 'init_lora_weights' is {given}, which changes the base model's weights; save the adapter as a "
            "plain one (PEFT's save_pretrained with path_initial_model_for_weight_conversion)"
        )
    if found.bias not in ("none", None):
        raise UserError(f"{path}: 'bias' is {printable(repr(found.bias))}; only adapters without biases are read")
    return found


def _state(path: Path) -> LoraState:
    try:
        # PEFT of old names the adapter within the tensors' names.
        return {name.replace(".default.", "."): tensor.float() for name, tensor in load_file(path).items()}
    except FileNotFoundError:
        raise UserError(f"{path}: file not found; save the adapter as safetensors") from None
    except SafetensorError as error:
        raise UserError(f"{path}: not a complete safetensors file ({error}); save the adapter again") from None


def _settings(folder: Path, configuration: _Configuration, state: LoraState) -> Lora:
    modules = sorted({name.split(".lora_")[0].rpartition(".")[2] for name in state if ".lora_" in name})
    rank, alpha = configuration.r, configuration.lora_alpha
    if not modules:
        raise UserError(f"{folder / WEIGHTS}: holds no LoRA factor; save the adapter again")
    if configuration.use_rslora:
        alpha *= math.sqrt(rank)  # its scale is alpha / sqrt(rank)
    return Lora(rank=rank, alpha=alpha, dropout=0.0, target_modules=tuple(modules))


def _plain(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}"
