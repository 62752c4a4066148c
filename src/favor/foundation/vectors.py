"""Vectors as rows."""

import numpy as np


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Return ``rows`` [..., d] scaled to unit length; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: np.ndarray = rows / np.where(lengths > 0, lengths, 1.0)
    return unit
