"""List every file that crossed between clients and server, and what stayed on the clients, with bytes."""

import pandas as pd

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.communication_record import run_boundary
from favor.federation.schemas import BOUNDARY
from favor.federation.settings import Boundary
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, Boundary) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS, ["client", "prompt", "training_text"])
    frames = [run_boundary(run, texts, settings.results) for run in settings.runs]
    write_parquet(pd.concat(frames, ignore_index=True), snakemake.output.boundary, BOUNDARY)
