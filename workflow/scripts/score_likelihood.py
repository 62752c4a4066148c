"""Score what every run's adapters know of the clients' held-out texts."""

import pandas as pd

from favor.federation.tables import LIKELIHOOD
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.likelihood import likelihood_scores
from favor.scores.tables import SCORES

with job(snakemake) as cfg:
    found = pd.concat([LIKELIHOOD.empty(), *(read_parquet(path, LIKELIHOOD) for path in snakemake.input.readings)])
    settings = (cfg["clients"], cfg["methods"], cfg["without"], cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"])
    write_parquet(likelihood_scores(found, *settings), snakemake.output.scores, SCORES)
