"""What every metric declares about itself, and how a family's rows become the scores table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from favor.foundation.declarations import declared_words
from favor.foundation.registry import METRIC_FAMILIES

if TYPE_CHECKING:  # tables name metrics while the workflow is parsed
    import pandas as pd

CONTROLS = ("gold", "shuffled")  # references: the authors' own continuations, and those of other authors
SOURCE = "source"  # stands for a method where only human texts are scored, under seed 0
ALL_SEEDS = 0  # the seed of a score that pools all of them
UNSEEN = "unseen"  # stands for an encoder: the mean over the style encoders that no method was trained with


@dataclass(frozen=True)
class Metric:
    """One metric: the one place for what it is called, how it is read and who defines it.

    name: its key in the table ``scores``.
    label: its printed name.
    minimum, maximum: its range; either may be infinite.
    direction: "higher" or "lower" where one end is better, "none" where the value only describes.
    reference: the paper, or the words, that define it.
    unit: of the value, "" for none.
    paired_label: its printed name in tables of paired tests, where that is another.
    per_output: "binary" or "real" where it has a value for every output, so that paired tests can compare two methods
        output by output ("binary" takes McNemar's exact test, "real" Wilcoxon's).
    per_client: its variants are clients. Such rows stay with the results and are not part of a release.
    """

    name: str
    label: str
    minimum: float
    maximum: float
    direction: Literal["higher", "lower", "none"]
    reference: str
    unit: str = ""
    paired_label: str = ""
    per_output: Literal["", "binary", "real"] = ""
    per_client: bool = False

    def __post_init__(self) -> None:
        if not self.minimum < self.maximum:
            raise ValueError(f"metric {self.name}: minimum {self.minimum} is not below maximum {self.maximum}")


@dataclass(frozen=True)
class Score:
    """One row of the scores table. ``n`` counts the texts or pairs; ``note`` says why ``value`` is NaN, where it is."""

    seed: int
    method: str
    encoder: str
    metric: str
    variant: str
    value: float
    n: int
    note: str = ""

    def ends(self, limits: Iterable[float], note: str = "") -> Iterator[Score]:
        """Yield the ends of the 95 % interval: rows of the variants "low" and "high", behind this one's own variant.

        ``note``: why there is none, where that is not why the value itself is missing.
        """
        for name, limit in zip(("low", "high"), limits, strict=True):
            variant = f"{self.variant}_{name}".lstrip("_")
            yield replace(self, variant=variant, value=float(limit), note=note or self.note)


def scores_frame(scores: Iterable[Score]) -> pd.DataFrame:
    """Return the scores table, where only missing values have notes. A NaN without a note is a defect and raises."""
    import pandas as pd

    from favor.scores.schemas import SCORES

    rows = [asdict(score) for score in scores]
    for row in rows:
        if not math.isnan(row["value"]):
            row["note"] = ""
        elif not row["note"]:
            raise ValueError(f"score {row}: a missing value needs a note")
    return pd.DataFrame(rows, columns=list(SCORES.names)).astype({"seed": "int32", "value": "float64", "n": "int64"})


def metrics_of(family: str) -> Sequence[Metric]:
    """Return the METRICS of a family. Raises ``UserError`` for an unknown one."""
    return METRIC_FAMILIES.load(family).METRICS


def aggregates(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of scores that are of no single client."""
    known = (metric for family in families_of(scores["metric"].unique()) for metric in metrics_of(family))
    return scores[~scores["metric"].isin([metric.name for metric in known if metric.per_client])]


def label_of(metric: str) -> str:
    """Return the printed name of a metric, or the key itself where no family declares it."""
    declared = (each for family in families_of([metric]) for each in metrics_of(family))
    return next((each.label for each in declared if each.name == metric), metric)


def families_of(metrics: Iterable[str]) -> list[str]:
    """Return the families whose file declares one of ``metrics`` by name, in name order, importing none of them."""
    wanted = set(metrics)
    return [name for name in METRIC_FAMILIES.names() if wanted & declared_words(METRIC_FAMILIES.path(name), "METRICS")]
