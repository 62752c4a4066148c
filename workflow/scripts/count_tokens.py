"""Count every author's documents, words, and tokens under the base model's tokenizer."""

from pathlib import Path

from favor.corpora.authors import count_tokens
from favor.foundation.files import write_parquet
from favor.foundation.job import job
from favor.foundation.progress import Progress

with job(snakemake) as cfg:
    progress = Progress("tokens", 0, "documents")
    authors = count_tokens(Path(snakemake.input.documents), cfg["tokenizer"], progress)
    progress.close()
    write_parquet(authors, snakemake.output.authors, "authors")
