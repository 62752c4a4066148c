"""Encoder kind ``stylometry``: the hand-made style space that the workflow fitted into ``folder``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from favor.encoders.base import TextEncoder, checked_options
from favor.encoders.stylometry import load_stylometry
from favor.foundation.errors import UserError

DEFAULTS: dict[str, Any] = {"folder": ""}


def load(options: Mapping[str, Any], folder: Path | None) -> TextEncoder:
    """Option ``folder``: a fitted space elsewhere; it overrides the workflow's own."""
    checked = checked_options("stylometry", options, DEFAULTS)
    location = Path(checked["folder"]).expanduser() if checked["folder"] else folder
    if location is None:
        raise UserError("encoder kind 'stylometry' needs the folder of a fitted space; set 'folder' or fit one")
    return load_stylometry(location)
