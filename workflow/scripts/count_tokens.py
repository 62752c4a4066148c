"""Count every author's documents and words, and the tokens of those who may have enough of them."""

from pathlib import Path

from favor.corpora.authors import count_tokens
from favor.corpora.schemas import AUTHORS
from favor.corpora.settings import TokenCounting
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, TokenCounting) as settings:
    progress = Progress("tokens", 0, "documents")
    authors = count_tokens(
        Path(snakemake.input.documents), settings.tokenizer_folder, settings.minimum_tokens, progress
    )
    progress.close()
    write_parquet(authors, snakemake.output.authors, AUTHORS)
