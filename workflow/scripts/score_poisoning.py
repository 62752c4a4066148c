"""Score what an attack on the shared adapter takes from honest authors, and whether its voice gets through."""

from favor.federation.schemas import LIKELIHOOD
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.poisoning import poisoning_scores
from favor.scores.schemas import SCORES
from favor.scores.settings import PoisoningScoring

with job(snakemake, PoisoningScoring) as settings:
    here, beside = (read_tables(snakemake.input[kind], LIKELIHOOD) for kind in ("readings", "beside"))
    write_parquet(poisoning_scores(here, beside, settings), snakemake.output.scores, SCORES)
