"""Draw the scores of a sweep over its points."""

from favor.figures.identity import Methods
from favor.figures.sweep import draw_sweep, sweep_label
from favor.foundation.parquet import read_parquet
from favor.running.jobs.job import job
from favor.scores.metric import metrics_of
from favor.scores.tables import SWEEP_SCORES
from favor.tables.sweeps import points_of

with job(snakemake) as cfg:
    labels = {metric.name: metric.label for family in cfg["families"] for metric in metrics_of(family)}
    draw_sweep(
        read_parquet(snakemake.input.scores, SWEEP_SCORES),
        points_of(cfg["points"]),
        {metric: sweep_label(metric, labels) for metric in cfg["figure"]},
        cfg["style_encoder"],
        Methods(cfg["methods"], cfg["display"]),
        *snakemake.output,
        axis=cfg["axis"],
        ordered=cfg["ordered"],
    )
