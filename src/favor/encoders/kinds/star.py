"""Encoder kind ``star``: STAR (Huertas-Tato et al. 2024), whose embedding is the pooler's output, L2-normalised.

STAR was trained on the Blog Authorship Corpus, so its BlogText figures are contaminated.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.encoders.backbones import load_backbone
from favor.encoders.base import TextEncoder, checked_options
from favor.encoders.transformer import TransformerEncoder

DEFAULTS: dict[str, Any] = {
    "source": "AIDA-UPM/star",
    "tokenizer": "roberta-large",  # id or folder; STAR comes without one
    "maximum_tokens": 512,
    "batch_size": 32,
    "precision": "float32",
}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options and their defaults: see ``DEFAULTS``. ``folder`` is not used: nothing is trained."""
    checked = checked_options("star", options, DEFAULTS)
    backbone = load_backbone(checked["source"], tokenizer=checked["tokenizer"], keep_pooler=True)
    return TransformerEncoder(backbone, lambda output, _mask: output.pooler_output, backbone.hidden_size, checked)
