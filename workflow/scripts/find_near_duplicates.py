"""Find the posts that are near duplicates of others of the corpus."""

from pathlib import Path

from favor.corpora.near_duplicates import find_near_duplicates
from favor.corpora.schemas import NEAR_DUPLICATES, SPLITS
from favor.corpora.settings import NearDuplicates
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, NearDuplicates) as settings:
    threshold = settings.near_duplicates
    assert threshold is not None  # else the rule has no job
    progress = Progress("near duplicates", 0, "posts")
    splits = read_parquet(snakemake.input.splits, SPLITS)
    found = find_near_duplicates(Path(snakemake.input.documents), splits, threshold, settings.seed, progress)
    progress.close()
    write_parquet(found, snakemake.output.near_duplicates, NEAR_DUPLICATES)
