"""Put together what several jobs generated for a run."""

import pandas as pd

from favor.federation.schemas import GATES, GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake):
    for kind, table in (("generations", GENERATIONS), ("common_generations", GENERATIONS), ("gates", GATES)):
        parts = [read_parquet(path, table) for path in snakemake.input[kind]]
        write_parquet(pd.concat(parts, ignore_index=True), snakemake.output[kind], table)
