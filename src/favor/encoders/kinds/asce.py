"""Encoder kind ``asce``: an Angular Style Classification Encoder that the workflow trained into ``folder``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from favor.encoders.backbones import Backbone, backbone_description, backbone_from_description, mean_pool
from favor.encoders.base import TextEncoder, checked_options, trained_folder
from favor.encoders.transformer import TokenEncoder
from favor.foundation.errors import UserError
from favor.foundation.files import read_json, write_json
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.running.jobs.progress import Progress

DIMENSION = 256
DROPOUT = 0.1
FORMAT = "favor-asce-1"


class StyleNetwork(nn.Module):
    """E_phi and its normalisation: backbone, mean pooling, dropout, Linear(h -> 256), LayerNorm(256), L2."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone.model
        self.dropout = nn.Dropout(DROPOUT)
        self.projection = nn.Linear(backbone.hidden_size, DIMENSION)
        self.norm = nn.LayerNorm(DIMENSION)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Unit style embeddings z(x): token ids and mask [b, t] -> [b, 256]."""
        hidden = self.backbone(input_ids=tokens, attention_mask=mask).last_hidden_state
        pooled = self.projection(self.dropout(mean_pool(hidden, mask)))
        return functional.normalize(self.norm(pooled).float(), dim=-1)


class AsceEncoder(TokenEncoder):
    """A trained, frozen ASCE: texts -> unit rows [n, 256]. Texts are cut as in training (characters, then tokens)."""

    def __init__(self, network: StyleNetwork, backbone: Backbone, settings: Mapping[str, Any], batch_size: int) -> None:
        super().__init__(network, backbone, DIMENSION, {**settings, "batch_size": batch_size, "precision": "float32"})
        self.maximum_characters = settings["maximum_characters"]

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """See :meth:`TextEncoder.encode`."""
        return super().encode([text.strip() for text in texts], progress)

    def _forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = self.model(tokens, mask)
        return rows


def save_asce(
    folder: Path, network: StyleNetwork, backbone: Backbone, settings: dict[str, Any], manifest: dict[str, Any]
) -> None:
    """Write ``encoder.safetensors`` (weights) and ``encoder.json`` (all else needed to rebuild the encoder).

    The JSON holds the backbone's configuration and tokenizer, the training ``settings`` and the ``manifest`` of the
    training run. The classifier head is not part of it.
    """
    description: dict[str, Any] = {
        "format": FORMAT,
        "dimension": DIMENSION,
        "backbone": backbone_description(backbone),
        "settings": settings,
        "manifest": manifest,
    }
    header = {"format": FORMAT, "dimension": str(DIMENSION), "backbone": str(description["backbone"]["model_type"])}
    write_safetensors(network.state_dict(), folder / "encoder.safetensors", header)
    write_json(description, folder / "encoder.json")


def load_asce(folder: Path, batch_size: int = 64) -> AsceEncoder:
    """Load an encoder written by :func:`save_asce`."""
    description = read_json(folder / "encoder.json")
    if description.get("format") != FORMAT:
        raise UserError(f"{folder / 'encoder.json'}: not an ASCE encoder of format {FORMAT}; delete it and run again")
    tensors, _ = read_safetensors(folder / "encoder.safetensors")
    backbone = backbone_from_description(description["backbone"])
    network = StyleNetwork(backbone)
    try:
        network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
    except RuntimeError as error:
        raise UserError(
            f"{folder / 'encoder.safetensors'}: does not fit encoder.json ({str(error).splitlines()[0]}); "
            "delete both and run again"
        ) from None
    return AsceEncoder(network, backbone, description["settings"], batch_size)


DEFAULTS: dict[str, Any] = {"folder": "", "batch_size": 64}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options: ``folder`` (a trained encoder elsewhere; overrides the workflow's own), ``batch_size`` (64)."""
    checked = checked_options("asce", options, DEFAULTS)
    return load_asce(trained_folder("asce", checked["folder"], folder), checked["batch_size"])
