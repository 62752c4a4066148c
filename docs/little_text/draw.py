"""Draw docs/figures/little_text.svg from the scores beside this file: python docs/little_text/draw.py."""

import argparse
import math
from pathlib import Path

from favor.figures.identity import Methods
from favor.figures.sweep import draw_sweep
from favor.foundation.parquet import read_parquet
from favor.scores.likelihood import METRICS
from favor.scores.schemas import SWEEP_SCORES
from favor.tables.settings import PointPlace

FOLDER = Path(__file__).parent
METHODS = ("fedavg", "fedavg_finetuned", "local_only", "ditto", "favor")
DRAWN = ("likelihood_own_gain", "likelihood_voice_gain")


def draw(path: Path) -> None:
    """Write the figure of own gain and voice gain over words per author to ``path`` (SVG)."""
    scores = read_parquet(FOLDER / "scores.parquet", SWEEP_SCORES)
    labels = {metric.name: f"{metric.label}, nats per token" for metric in METRICS if metric.name in DRAWN}
    amounts = sorted(int(label.replace(",", "")) for label in scores["point"].unique())
    points = [PointPlace(label=f"{amount:,}", value=math.log2(amount)) for amount in amounts]
    draw_sweep(scores, points, labels, {}, Methods(METHODS), path, axis="Words per author (logarithmic)")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    draw(FOLDER.parent / "figures" / "little_text.svg")
