"""What every metric declares about itself, and how a family's rows become the scores table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import pandas as pd

from favor.foundation.registry import METRIC_FAMILIES
from favor.scores.tables import SCORES

CONTROLS = ("gold", "shuffled")  # upper bound: the authors' own continuations; lower bound: another author's
SOURCE = "source"  # stands for a method where only human texts are scored, under seed 0


@dataclass(frozen=True)
class Metric:
    """One metric: its key in the scores table, label, range, direction, unit, and the source that defines it.

    ``direction`` is "higher" or "lower" where one end is better and "none" where the value only describes.
    ``minimum`` and ``maximum`` may be infinite.
    """

    name: str
    label: str
    minimum: float
    maximum: float
    direction: Literal["higher", "lower", "none"]
    reference: str
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.minimum < self.maximum:
            raise ValueError(f"metric {self.name}: minimum {self.minimum} is not below maximum {self.maximum}")


@dataclass(frozen=True)
class Score:
    """One row of the scores table. ``n`` counts the texts or pairs; ``note`` says why ``value`` is NaN."""

    seed: int
    method: str
    encoder: str
    metric: str
    variant: str
    value: float
    n: int
    note: str = ""


def scores_frame(scores: Iterable[Score]) -> pd.DataFrame:
    """Return the scores table. A NaN without a note, or a note beside a value, is a defect and raises."""
    rows = [asdict(score) for score in scores]
    for row in rows:
        if (row["value"] != row["value"]) != bool(row["note"]):
            raise ValueError(f"score {row}: exactly the missing values carry a note")
    return pd.DataFrame(rows, columns=list(SCORES.names)).astype({"seed": "int32", "value": "float64", "n": "int64"})


def metrics_of(family: str) -> Sequence[Metric]:
    """Return the METRICS of a family. Raises ``UserError`` for an unknown one."""
    metrics: Sequence[Metric] = METRIC_FAMILIES.load(family).METRICS
    return metrics
