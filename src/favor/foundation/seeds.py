"""Random seeds derived from (seed, purpose, ids), so that no draw depends on execution order.

A stable hash (BLAKE2b) turns the tuple into a 63-bit integer. Two purposes, clients or rounds never share a
stream, and the same tuple gives the same stream on every machine and Python version.
"""

from __future__ import annotations

import hashlib
from numbers import Integral
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def derive_seed(seed: int, purpose: str, *ids: str | int) -> int:
    """Return the seed in [0, 2**63) of the stream named by ``seed``, ``purpose`` and ``ids``.

    Ids are kept apart by type and length, so that ("a", 1) and ("a", "1"), or ("ab", "c") and ("a", "bc"), differ.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (seed, purpose, *ids):
        text = f"{'i' if isinstance(part, Integral) else 's'}{part}".encode()
        digest.update(len(text).to_bytes(4, "little") + text)
    return int.from_bytes(digest.digest(), "little") >> 1


def numpy_generator(seed: int, purpose: str, *ids: str | int) -> np.random.Generator:
    """Return a NumPy generator for the stream named by ``seed``, ``purpose`` and ``ids``."""
    import numpy as np  # here, because the planner reads this module

    return np.random.Generator(np.random.PCG64(derive_seed(seed, purpose, *ids)))
