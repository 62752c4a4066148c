"""Score what every run's adapters know of the clients' held-out texts."""

from favor.federation.schemas import LIKELIHOOD
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.likelihood import likelihood_scores
from favor.scores.schemas import SCORES
from favor.scores.settings import LikelihoodScoring

with job(snakemake, LikelihoodScoring) as settings:
    found = read_tables(snakemake.input.readings, LIKELIHOOD)
    scores = likelihood_scores(
        found, settings.clients, settings.methods, settings.without, settings.bootstrap.seed, settings.bootstrap.draws
    )
    write_parquet(scores, snakemake.output.scores, SCORES)
