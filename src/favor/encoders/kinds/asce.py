"""Encoder kind ``asce``: an Angular Style Classification Encoder that the workflow trained into ``folder``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.encoders.asce import load_asce
from favor.encoders.base import TextEncoder, checked_options
from favor.foundation.errors import UserError

DEFAULTS: dict[str, Any] = {"folder": "", "batch_size": 64}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Options: ``folder`` (a trained encoder elsewhere; overrides the workflow's own), ``batch_size`` (64)."""
    checked = checked_options("asce", options, DEFAULTS)
    location = Path(checked["folder"]).expanduser() if checked["folder"] else folder
    if location is None:
        raise UserError("encoder kind 'asce' needs the folder of a trained encoder; set 'folder' or train one")
    return load_asce(location, checked["batch_size"])
