"""Put the scores of a sweep's points into one table."""

import pandas as pd

from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job

with job(snakemake) as cfg:
    files = iter(snakemake.input.scores)
    frames = [
        read_parquet(next(files), "scores").assign(point=point["label"], experiment=point["experiment"])
        for point in cfg["points"]
        for _ in cfg["families"]
    ]
    write_parquet(pd.concat(frames, ignore_index=True), snakemake.output.scores, "sweep_scores")
