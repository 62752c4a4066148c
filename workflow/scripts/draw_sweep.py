"""Draw the scores of a sweep over its points."""

from favor.figures.identity import Methods
from favor.figures.sweep import draw_sweep, sweep_label
from favor.foundation.parquet import read_parquet
from favor.running.jobs.job import job
from favor.scores.metric import metrics_of
from favor.scores.schemas import SWEEP_SCORES
from favor.tables.settings import SweepFigure

with job(snakemake, SweepFigure) as settings:
    labels = {metric.name: metric.label for family in settings.families for metric in metrics_of(family)}
    draw_sweep(
        read_parquet(snakemake.input.scores, SWEEP_SCORES),
        settings.points,
        {metric: sweep_label(metric, labels) for metric in settings.figure},
        settings.style_encoders,
        Methods(settings.methods, settings.display),
        *snakemake.output,
        axis=settings.axis,
        ordered=settings.ordered,
    )
