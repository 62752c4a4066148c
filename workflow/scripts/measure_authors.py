"""Measure the authors who are large enough for a role: language, characters per token, quoted mail, near duplicates."""

from pathlib import Path

from favor.corpora.author_measures import measure_authors
from favor.corpora.schemas import AUTHOR_MEASURES, AUTHORS, NEAR_DUPLICATES, SPLITS
from favor.corpora.settings import AuthorMeasuring
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, AuthorMeasuring) as settings:
    progress = Progress("authors", 0, "posts")
    measures = measure_authors(
        Path(snakemake.input.documents),
        read_parquet(snakemake.input.splits, SPLITS),
        read_parquet(snakemake.input.authors, AUTHORS),
        read_tables(snakemake.input.near_duplicates, NEAR_DUPLICATES),
        settings.minimum_tokens,
        settings.seed,
        progress,
    )
    progress.close()
    write_parquet(measures, snakemake.output.measures, AUTHOR_MEASURES)
