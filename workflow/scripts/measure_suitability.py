"""Count the prompts and training texts of every author who could be a client of an experiment on a corpus."""

from pathlib import Path

from favor.corpora.authors import measure_suitability
from favor.corpora.documents import copied_documents
from favor.corpora.schemas import AUTHORS, SPLITS, SUITABILITY
from favor.corpora.settings import Need, Suitability
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, Suitability) as settings:
    needs = [*settings.needs, *map(Need.model_validate, snakemake.params.studies)]
    authors = read_parquet(snakemake.input.authors, AUTHORS)
    splits = read_parquet(snakemake.input.splits, SPLITS)
    copied = copied_documents(snakemake.input.near_duplicates)
    progress = Progress("suitability", int(authors["documents"].sum()), "documents")
    documents = Path(snakemake.input.documents)
    measured = measure_suitability(documents, authors, splits, needs, settings.minimum_tokens, copied, progress)
    progress.close()
    write_parquet(measured, snakemake.output.suitability, SUITABILITY)
