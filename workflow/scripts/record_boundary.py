"""List every file that crossed between clients and server, and what stayed on the clients, with bytes."""

import pandas as pd

from favor.federation.boundary import run_boundary
from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job

with job(snakemake) as cfg:
    texts = read_parquet(snakemake.input.texts, "client_texts", ["client", "prompt", "training_text"])
    frames = [run_boundary(run, texts, cfg["results"]) for run in cfg["runs"]]
    write_parquet(pd.concat(frames, ignore_index=True), snakemake.output.boundary, "boundary")
