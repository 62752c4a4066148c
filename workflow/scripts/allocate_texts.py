"""Give every client its word budget and the texts it trains on."""

import sys
from pathlib import Path

from favor.corpora.allocation import materialise, missed_targets
from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS, ROSTER, SPLITS
from favor.corpora.settings import TextAllocation
from favor.federation.schedule import client_names
from favor.foundation.parquet import read_parquet, write_parquet, write_row_groups
from favor.running.jobs.job import job

with job(snakemake, TextAllocation) as settings:
    roster = read_parquet(snakemake.input.roster, ROSTER)
    roster = roster[roster["client"].isin(client_names(settings.clients, settings.skip_clients))]
    splits = read_parquet(snakemake.input.splits, SPLITS)
    made = materialise(Path(snakemake.input.documents), splits, roster, settings.allocation, settings.words)
    if missed := missed_targets(made.allocation):
        print(missed, file=sys.stderr)
    write_parquet(made.allocation, snakemake.output.allocation, ALLOCATION)
    write_row_groups(made.texts, snakemake.output.texts, CLIENT_TEXTS, "client")
