"""Score what every run sent, kept and trained, from the boundary record, the training logs and recorded wall times."""

import math

import pandas as pd

from favor.federation.tables import BOUNDARY, TRAINING_LOG
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.tensors import safetensors_shapes
from favor.running.job import job
from favor.scores.efficiency import efficiency_scores, wall_seconds
from favor.scores.tables import SCORES

with job(snakemake) as cfg:
    nothing = TRAINING_LOG.empty()
    logs, seconds = {}, {}
    for run in cfg["runs"]:
        key = (run["seed"], run["method"])
        frames = [read_parquet(path, TRAINING_LOG) for path in run["logs"]]
        logs[key] = pd.concat([nothing, *frames], ignore_index=True)
        seconds[key] = wall_seconds(run["benchmarks"])
    sizes = [sum(math.prod(shape) for shape in safetensors_shapes(path).values()) for path in snakemake.input.adapters]
    parameters = dict(zip(cfg["seeds"], sizes or [0] * len(cfg["seeds"]), strict=True))
    boundary = read_parquet(snakemake.input.boundary, BOUNDARY)
    write_parquet(efficiency_scores(boundary, logs, parameters, seconds), snakemake.output.scores, SCORES)
