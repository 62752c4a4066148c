"""What every metric declares about itself, and how a family's rows become the scores table."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from favor.foundation.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

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
    import pandas as pd  # here, because the planner reads this module

    from favor.scores.tables import SCORES

    rows = [asdict(score) for score in scores]
    for row in rows:
        if (row["value"] != row["value"]) != bool(row["note"]):
            raise ValueError(f"score {row}: exactly the missing values carry a note")
    return pd.DataFrame(rows, columns=list(SCORES.names)).astype({"seed": "int32", "value": "float64", "n": "int64"})


def families() -> dict[str, str]:
    """Return family name -> module of every file of ``favor.scores`` and ``favor.studies`` that declares METRICS.

    A family is found by its file: it holds a top-level ``METRICS`` assignment, which is looked for in the text so
    that listing the families imports none of them.
    """
    found = {}
    for package in map(importlib.import_module, ("favor.scores", "favor.studies")):
        for module in pkgutil.iter_modules(package.__path__):
            spec = importlib.util.find_spec(f"{package.__name__}.{module.name}")
            if spec is None or spec.origin is None:
                continue
            with open(spec.origin, encoding="utf-8") as file:
                if any(line.startswith("METRICS") for line in file):
                    found[module.name] = f"{package.__name__}.{module.name}"
    return found


def metrics_of(family: str) -> Sequence[Metric]:
    """Return the METRICS of a family; ``UserError`` for an unknown one."""
    known = families()
    if family not in known:
        raise UserError(f"score family '{family}' is unknown; use one of {', '.join(sorted(known))}")
    metrics: Sequence[Metric] = importlib.import_module(known[family]).METRICS
    return metrics
