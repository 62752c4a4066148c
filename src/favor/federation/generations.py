"""Continuations as people and judges are shown them: one per run and prompt."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_tables


def first_samples(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the table ``generations`` of several runs, of every prompt its first sample only."""
    found = read_tables(paths, GENERATIONS)
    return found[found["sample"] == 0].reset_index(drop=True)
