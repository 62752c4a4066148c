"""Put the scores of a sweep's points into one table."""

import pandas as pd

from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES, SWEEP_SCORES
from favor.tables.settings import SweepScores

with job(snakemake, SweepScores) as settings:
    files = iter(snakemake.input.scores)
    frames = [
        read_parquet(next(files), SCORES).assign(point=point.label, experiment=point.experiment)
        for point in settings.points
        for _ in settings.families
    ]
    write_parquet(pd.concat(frames, ignore_index=True), snakemake.output.scores, SWEEP_SCORES)
