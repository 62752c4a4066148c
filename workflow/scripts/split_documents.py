"""Split every author's documents 80/10/10 into training, validation and test."""

import sys
from pathlib import Path

from favor.corpora.settings import Splitting
from favor.corpora.splits import split_documents
from favor.corpora.tables import SPLITS
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Splitting) as settings:
    splits, excluded, undated = split_documents(Path(snakemake.input.documents), settings)
    if undated:
        print(f"{undated:,} posts left out: they have no date that can be read", file=sys.stderr)
    print(f"{len(excluded)} authors left out: fewer than {settings.minimum_posts} documents", file=sys.stderr)
    write_parquet(splits, snakemake.output.splits, SPLITS)
