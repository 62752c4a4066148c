"""Draw the authors whose text pretrains a small base model; they take no other role.

Where there are too few the table is empty: ``favor check`` says so on its page, and a run stops before any training.
"""

import sys
from pathlib import Path

from favor.corpora.authors import choose_background
from favor.corpora.schemas import AUTHORS
from favor.corpora.settings import Background
from favor.corpora.shortage import ShortageError
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Background) as settings:
    try:
        authors = choose_background(Path(snakemake.input.documents), settings)
    except ShortageError as shortage:
        print(shortage, file=sys.stderr)
        authors = AUTHORS.empty()
    write_parquet(authors, snakemake.output.background, AUTHORS)
