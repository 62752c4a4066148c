"""Put the scores of all seeds together, and draw docs/figures/little_text.svg: python docs/little_text/draw.py."""

import argparse
import math
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd

from favor.figures.identity import Methods
from favor.figures.sweep import draw_sweep
from favor.foundation.parquet import read_parquet
from favor.scores.likelihood import METRICS
from favor.scores.schemas import SWEEP_SCORES
from favor.statistics.bootstrap import around, interval, mean_draws, observed_and_resampled
from favor.statistics.differences import compare
from favor.tables.settings import PointPlace

FOLDER = Path(__file__).parent
SEEDS = {2026: "scores.parquet", 2027: "scores_2027.parquet", 2028: "scores_2028.parquet"}
METHODS = ("fedavg", "fedavg_finetuned", "local_only", "ditto", "favor", "favor_without_asce")
METRICS_OF = ("likelihood_own_gain", "likelihood_others_gain", "likelihood_voice_gain")
DRAWN = ("likelihood_own_gain", "likelihood_voice_gain")
AUTHORS = 12
Gains = dict[str, dict[str, np.ndarray]]  # row -> metric -> every author's value, [12]


def gains(seed: int) -> dict[tuple[str, str], dict[str, np.ndarray]]:
    """Return (point, row) -> own, others' and voice gain of every author, [12], from one seed's file."""
    scores = read_parquet(FOLDER / SEEDS[seed], SWEEP_SCORES)
    pairs = scores[scores["metric"] == "likelihood_gain"]
    pairs = pairs.join(pairs["variant"].str.split("~", expand=True).set_axis(["reader", "writer"], axis=1))
    found = {}
    for key, own in pairs.groupby(["point", "method"]):
        matrix = own.pivot(index="reader", columns="writer", values="value").to_numpy()
        diagonal = np.diag(matrix)
        others = (matrix.sum(axis=0) - diagonal) / (len(matrix) - 1)
        found[key] = dict(zip(METRICS_OF, (diagonal, others, diagonal - others), strict=True))
    return found


def pooled() -> pd.DataFrame:
    """Return the table ``sweep_scores`` of means over a row's seeds (``n``), intervals and paired differences."""
    seeds = [gains(seed) for seed in SEEDS]
    counts = observed_and_resampled(AUTHORS, 20260101)
    rows: list[tuple[object, ...]] = []

    def drawn(found: Sequence[Gains], method: str, metric: str) -> np.ndarray:
        values = np.stack([seed[method][metric] for seed in found])
        mean, *each = (mean_draws(one, np.arange(AUTHORS), counts) for one in (values.mean(axis=0), *values))
        return around(mean, each)

    for point in sorted({point for point, _ in seeds[0]}):
        of_seeds: list[Gains] = [{row: own for (at, row), own in seed.items() if at == point} for seed in seeds]

        def add(
            method: str, metric: str, ends: Sequence[str], numbers: Sequence[float], n: int, at: str = point
        ) -> None:
            for end, value in zip(ends, numbers, strict=True):
                rows.append((at, f"words_{at.replace(',', '')}", 0, method, "", metric, end, value, n, ""))

        for method, metric in product(METHODS, METRICS_OF):
            found = [seed for seed in of_seeds if method in seed]
            values = drawn(found, method, metric)
            add(method, metric, ("", "low", "high"), (values[:, 0].mean(), *interval(values, AUTHORS)), len(found))
        for (left, right), metric in product(combinations(METHODS, 2), METRICS_OF):
            both = [seed for seed in of_seeds if {left, right} <= seed.keys()]
            shares = np.mean([seed[left][metric] - seed[right][metric] for seed in both], axis=0)
            sides = (drawn(both, method, metric) for method in (left, right))
            result = compare(*sides, np.ones(AUTHORS), counts, shares, 20260101)
            numbers = result.delta, result.low, result.high, result.p
            add(left, metric, [f"minus:{right}{end}" for end in ("", "_low", "_high", "_p")], numbers, len(both))
    return pd.DataFrame(rows, columns=SWEEP_SCORES.names)


def draw(path: Path) -> None:
    """Write the figure of own gain and voice gain over words per author to ``path`` (SVG)."""
    scores = pooled()
    labels = {metric.name: f"{metric.label}, nats per token" for metric in METRICS if metric.name in DRAWN}
    amounts = sorted(int(label.replace(",", "")) for label in scores["point"].unique())
    points = [PointPlace(label=f"{amount:,}", value=math.log2(amount)) for amount in amounts]
    draw_sweep(
        scores[scores["method"].isin(METHODS[:5])],
        points,
        labels,
        {},
        Methods(METHODS[:5]),
        path,
        axis="Words per author (logarithmic)",
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    draw(FOLDER.parent / "figures" / "little_text.svg")
