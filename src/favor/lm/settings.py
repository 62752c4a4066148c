"""Settings of adapters, training, alignment and pretraining: plain values, no torch import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class LoraSettings:
    """LoRA of the paper (appendix, training settings): ``delta W = (alpha / rank) B A`` on the named projections.

    ``dropout`` is the rate on the adapter's input; ``target_modules`` are the last components of module names, None:
    every linear layer but the output layer (:func:`favor.lm.lora.target_layers`).
    """

    rank: int = 16
    alpha: float = 32
    dropout: float = 0.05
    target_modules: tuple[str, ...] | None = (
        *("q_proj", "k_proj", "v_proj", "o_proj"),
        *("gate_proj", "up_proj", "down_proj"),
    )

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> LoraSettings:
        """Return the section ``lora`` of a configuration."""
        named = section["target_modules"]
        return cls(**{**section, "target_modules": None if named is None else tuple(named)})

    @property
    def scaling(self) -> float:
        """The factor alpha / rank."""
        return self.alpha / self.rank


ALL_LINEAR = LoraSettings(target_modules=None)  # for what generates without adapters, on any decoder


@dataclass(frozen=True)
class TrainingSettings:
    """How one stage is optimised: AdamW, linear decay after a warm-up, clipping per client.

    - ``learning_rate``: peak rate; ``weight_decay``: decoupled, on every trained tensor.
    - ``warmup_fraction``: share of the stage's optimiser steps (rounded up) that warm up; ``warmup_counts_from``: 1
      makes the first step's rate 1 / warm-up steps of the peak, 0 makes it zero (the rule of transformers).
    - ``clip_norm``: largest Euclidean norm of a client's gradient over its LoRA factors and its projection head
      together; 0 turns clipping off.
    - ``micro_batch`` x ``accumulation`` pieces make one optimiser step; ``micro_batch`` is also the minibatch that
      the style state is pooled over.
    - ``max_length``: tokens of the longest piece.
    - ``supervised``: "response" (tokens from a piece's response start) or "all" (every token but the first, which
      nothing predicts).
    - ``group_by_length``: sort the pieces of one optimiser step by length before micro-batches are formed. The token
      mean of a step does not depend on it; which pieces share a pooled style state does.
    - ``steps_per_epoch``: optimiser steps that count as one pass over a client's text, each of a whole effective batch;
      None: as many as the text takes. It fixes a client's compute whatever the volume of its text.
    - ``gradient_checkpointing``: which layers are computed again in the backward pass: all ("on"), none ("off"), or as
      many as memory asks for ("auto": none, every second one, all).
    """

    learning_rate: float = 2e-4
    weight_decay: float = 0.0
    warmup_fraction: float = 0.03
    warmup_counts_from: Literal[0, 1] = 1
    clip_norm: float = 1.0
    micro_batch: int = 4
    accumulation: int = 8
    max_length: int = 1024
    supervised: Literal["response", "all"] = "response"
    group_by_length: bool = True
    steps_per_epoch: int | None = None
    gradient_checkpointing: Literal["auto", "on", "off"] = "auto"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8


@dataclass(frozen=True)
class AlignmentSettings:
    """Style alignment of the private stage (Eqs. pooled_hidden, projected_style, style_alignment_loss).

    - ``weight``: lambda_align; ``ramp_fraction``: share of the stage's steps over which kappa rises from 0 to 1.
    - ``ramp_counts``: "steps", completed optimiser steps (the paper); "micro_batches", counted as the released trainers
      do (:func:`favor.lm.optimiser.micro_batch_ramp`).
    - ``pooling``: "minibatch" (one state per micro-batch, the paper's equation) or "example" (one per piece, cosines
      averaged, in micro-batches whose pieces have at least ``minimum_tokens`` supervised tokens on average).
    - ``hidden``, ``dropout``: width and dropout of the projection head's first layer.
    """

    weight: float = 0.3
    ramp_fraction: float = 0.05
    ramp_counts: Literal["steps", "micro_batches"] = "steps"
    pooling: Literal["minibatch", "example"] = "minibatch"
    minimum_tokens: int = 8
    hidden: int = 1024
    dropout: float = 0.05


@dataclass(frozen=True)
class PretrainSettings:
    """Shape and optimisation of a small Qwen2 trained from scratch.

    ``tokens`` is the number of tokens trained on (whole batches; passes over the text repeat until it is reached),
    ``held_out_fraction`` the share of the texts kept for the closing loss. ``precision`` "bfloat16" runs the forward
    pass under autocast; weights stay float32.
    """

    hidden_size: int = 128
    layers: int = 4
    heads: int = 4
    key_value_heads: int = 2
    intermediate_size: int = 384
    context_length: int = 512
    sequence_length: int = 256
    tokens: int = 1_000_000
    batch_size: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 0.01
    warmup_fraction: float = 0.05
    clip_norm: float = 1.0
    held_out_fraction: float = 0.02
    precision: Literal["float32", "bfloat16"] = "float32"
