"""Say whether the experiments on a corpus can be run."""

from pathlib import Path

from favor.corpora.readiness import readiness
from favor.corpora.roster import Measured
from favor.corpora.schemas import AUTHOR_MEASURES, DROPPED
from favor.corpora.settings import Readiness
from favor.foundation.files import write_text
from favor.foundation.parquet import read_parquet
from favor.running.jobs.job import job

with job(snakemake, Readiness) as settings:
    dropped = read_parquet(snakemake.input.dropped, DROPPED)
    measured = Measured.read(snakemake.input)
    measures = read_parquet(snakemake.input.author_measures, AUTHOR_MEASURES)
    page = readiness(snakemake.wildcards.corpus, Path(snakemake.input.source), measured, dropped, settings, measures)
    write_text(page, Path(snakemake.output.page))
