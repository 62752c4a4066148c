"""Count the prompts and training texts of every author who could be a client of an experiment on a corpus."""

from pathlib import Path

from favor.corpora.copies import copied_documents
from favor.corpora.prompts import PromptSettings
from favor.corpora.suitability import Need, measure_suitability
from favor.corpora.tables import AUTHORS, SPLITS, SUITABILITY
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake) as cfg:
    needs = [
        Need(**{**need, "prompts": PromptSettings(**need["prompts"])})
        for need in (*cfg["needs"], *snakemake.params.studies)
    ]
    authors = read_parquet(snakemake.input.authors, AUTHORS)
    splits = read_parquet(snakemake.input.splits, SPLITS)
    copied = copied_documents(snakemake.input.near_duplicates)
    progress = Progress("suitability", int(authors["documents"].sum()), "documents")
    documents = Path(snakemake.input.documents)
    measured = measure_suitability(documents, authors, splits, needs, cfg["minimum_tokens"], copied, progress)
    progress.close()
    write_parquet(measured, snakemake.output.suitability, SUITABILITY)
