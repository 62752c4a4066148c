"""Torch generators for streams named by (seed, purpose, ids)."""

import torch

from favor.foundation.seeds import derive_seed


def torch_generator(seed: int, purpose: str, *ids: str | int, device: str | torch.device = "cpu") -> torch.Generator:
    """Return a torch generator on ``device`` for the stream named by ``seed``, ``purpose`` and ``ids``."""
    return torch.Generator(device=device).manual_seed(derive_seed(seed, purpose, *ids))
