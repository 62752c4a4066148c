"""Put together what several jobs generated for a run."""

from favor.federation.schemas import GATES, GENERATIONS
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job

with job(snakemake):
    for kind, table in (("generations", GENERATIONS), ("common_generations", GENERATIONS), ("gates", GATES)):
        write_parquet(read_tables(snakemake.input[kind], table), snakemake.output[kind], table)
