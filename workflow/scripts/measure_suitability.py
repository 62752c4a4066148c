"""Count the prompts and training texts of every author who could be a client of an experiment on a corpus."""

from pathlib import Path

from favor.corpora.prompts import PromptSettings
from favor.corpora.suitability import Need, measure_suitability
from favor.corpora.tables import AUTHORS, NEAR_DUPLICATES, SPLITS, SUITABILITY
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
    copied = {
        name for path in snakemake.input.near_duplicates for name in read_parquet(path, NEAR_DUPLICATES)["document_id"]
    }
    progress = Progress("suitability", int(authors["documents"].sum()), "documents")
    documents = Path(snakemake.input.documents)
    measured = measure_suitability(documents, authors, splits, needs, cfg["minimum_tokens"], copied, progress)
    progress.close()
    write_parquet(measured, snakemake.output.suitability, SUITABILITY)
