"""Files as arrays of bytes, which Flower sends in pieces, so that an adapter may be of any size."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord

SENT = ("manifest.json", "adapter.safetensors")  # what a coordinator sends


def packed(files: Iterable[Path]) -> ArrayRecord:
    """Return the bytes of some files by their names."""
    return ArrayRecord({file.name: Array(np.frombuffer(file.read_bytes(), np.uint8)) for file in files})


def unpack(record: ArrayRecord, name: str, path: Path) -> None:
    """Write the file ``name`` of a record to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(record[name].numpy().tobytes())
