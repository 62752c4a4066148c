"""A frozen adapter that becomes part of the base model."""

from collections.abc import Callable

import torch
from torch import nn

from favor.lm.base import BaseModel
from favor.lm.lora import LoraState, factor_name, target_layers
from favor.lm.settings import Lora


def add_frozen(base: BaseModel, frozen: LoraState, lora: Lora) -> None:
    """Add (alpha / rank of ``lora``) B A x to the output of every layer for good: W <- W + (alpha / rank) B A.

    ``frozen``: A [R, d_in] and B [d_out, R] by PEFT's names, of any rank R, which may differ by layer. Weights stay as
    they are: in 4 or 16 bits they would not hold a small update. Without tensors nothing is added.
    """
    for path, layer in target_layers(base.model, lora).items() if frozen else ():
        first, second = (frozen[factor_name(path, factor)].to(base.device, base.dtype) for factor in ("A", "B"))
        layer.register_forward_hook(_adding(first, lora.scaling * second))


_Hook = Callable[[nn.Module, tuple[torch.Tensor], torch.Tensor], torch.Tensor]


def _adding(first: torch.Tensor, second: torch.Tensor) -> _Hook:
    def add(_: nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
        return output + nn.functional.linear(nn.functional.linear(inputs[0], first), second)

    return add
