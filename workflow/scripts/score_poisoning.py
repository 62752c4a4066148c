"""Score what an attack on the shared adapter takes from honest authors, and whether its voice gets through."""

import pandas as pd

from favor.federation.schemas import LIKELIHOOD
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.poisoning import poisoning_scores
from favor.scores.schemas import SCORES
from favor.scores.settings import PoisoningScoring

with job(snakemake, PoisoningScoring) as settings:
    here, beside = (
        pd.concat([read_parquet(path, LIKELIHOOD) for path in paths])
        for paths in (snakemake.input.readings, snakemake.input.beside)
    )
    write_parquet(poisoning_scores(here, beside, settings), snakemake.output.scores, SCORES)
