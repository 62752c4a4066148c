"""Score what every run sent, kept and trained, from the boundary record, the training logs and recorded wall times."""

import math

import pandas as pd

from favor.foundation.columns import TABLES
from favor.foundation.files import read_parquet, safetensors_shapes, write_parquet
from favor.foundation.job import job
from favor.scores.efficiency import efficiency_scores, wall_seconds

with job(snakemake) as cfg:
    nothing = TABLES["training_log"].schema.empty_table().to_pandas()
    logs, seconds = {}, {}
    for run in cfg["runs"]:
        key = (run["seed"], run["method"])
        frames = [read_parquet(path, "training_log") for path in run["logs"]]
        logs[key] = pd.concat([nothing, *frames], ignore_index=True)
        seconds[key] = wall_seconds(run["benchmarks"])
    sizes = [sum(math.prod(shape) for shape in safetensors_shapes(path).values()) for path in snakemake.input.adapters]
    parameters = dict(zip(cfg["seeds"], sizes or [0] * len(cfg["seeds"]), strict=True))
    boundary = read_parquet(snakemake.input.boundary, "boundary")
    write_parquet(efficiency_scores(boundary, logs, parameters, seconds), snakemake.output.scores, "scores")
