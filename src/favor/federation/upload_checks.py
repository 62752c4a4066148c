"""Refusals of a round's uploads. They return nothing and leave uploads as they were, so a new one reruns no job."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from favor.foundation.errors import UserError


def check_finite(upload: Mapping[str, np.ndarray], client: str, round_number: str, path: str | Path) -> None:
    """Refuse an upload with NaN or infinite numbers: one of them would be in every later shared adapter.

    Raises ``UserError`` that names the round, the client, the tensor and what to do.
    """
    for name in sorted(upload):
        if not np.isfinite(upload[name]).all():
            raise UserError(
                f"{path}: round {round_number}, {client}: tensor '{name}' of the upload has NaN or infinite numbers, "
                "so the round cannot be aggregated; lower training.learning_rate, or leave the client out (the key "
                "withdrawn; between sites close --without)"
            )
