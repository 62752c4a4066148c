"""Draw the authors whose text pretrains a small base model; they take no other role."""

from pathlib import Path

from favor.corpora.background import choose_background
from favor.corpora.settings import Background
from favor.corpora.tables import AUTHORS
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Background) as settings:
    authors = choose_background(Path(snakemake.input.documents), settings)
    write_parquet(authors, snakemake.output.background, AUTHORS)
