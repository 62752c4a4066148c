"""Torch generators for streams named by (seed, purpose, ids)."""

import torch

from favor.foundation.seeds import derive_seed


def torch_generator(seed: int, purpose: str, *ids: str | int) -> torch.Generator:
    """Return a torch generator for the stream named by ``seed``, ``purpose`` and ``ids``."""
    return torch.Generator().manual_seed(derive_seed(seed, purpose, *ids))
