"""Layers that are computed again in the backward pass, so that their activations need no memory until then."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Which layers, from most memory to least: none, every second one, every one.
STEPS = (None, 2, 1)


@contextmanager
def recomputation(model: Any, every: int | None) -> Iterator[None]:
    """Compute every ``every``-th decoder layer of a Hugging Face model again in backward passes; None: no layer.

    A backward pass takes place in the context of its forward pass.
    """
    if every is None:
        yield
        return
    from transformers.modeling_layers import GradientCheckpointingLayer

    model.activation_checkpointing_enable(
        activation_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=every
    )
    layers = [
        module
        for module in model.modules()
        if isinstance(module, GradientCheckpointingLayer) and module.gradient_checkpointing
    ]
    for layer in layers:
        # The layer's own flag switches recomputation on; its parts stay in evaluation mode (no dropout of the base).
        layer.training = True
    try:
        yield
    finally:
        model.activation_checkpointing_disable()
        for layer in layers:
            layer.training = False
