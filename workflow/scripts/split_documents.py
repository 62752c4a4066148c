"""Split every author's documents 80/10/10 into training, validation and test.

Where no author's can be split the table is empty: ``favor check`` says why on its page, and a run stops at the roles.
"""

import sys
from pathlib import Path

from favor.corpora.schemas import SPLITS
from favor.corpora.settings import Splitting
from favor.corpora.shortage import ShortageError
from favor.corpora.splits import split_documents
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Splitting) as settings:
    try:
        splits, excluded, undated = split_documents(Path(snakemake.input.documents), settings)
    except ShortageError as shortage:
        print(shortage, file=sys.stderr)
        splits = SPLITS.empty()
    else:
        if undated:
            print(f"{undated:,} posts left out: they have no date that can be read", file=sys.stderr)
        if excluded:
            print(f"{excluded} authors left out: fewer than {settings.minimum_posts} documents", file=sys.stderr)
    write_parquet(splits, snakemake.output.splits, SPLITS)
