"""Draw the authors whose text pretrains a small base model; they take no other role."""

from pathlib import Path

from favor.corpora.background import BackgroundSettings, choose_background
from favor.corpora.tables import AUTHORS
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    authors = choose_background(Path(snakemake.input.documents), BackgroundSettings(**cfg))
    write_parquet(authors, snakemake.output.background, AUTHORS)
