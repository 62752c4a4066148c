"""Give every client its word budget and the texts it trains on."""

import sys
from pathlib import Path

from favor.corpora.allocation import AllocationSettings, missed_targets
from favor.corpora.cleaning import CleaningSettings
from favor.corpora.materialising import materialise
from favor.corpora.tables import ALLOCATION, CLIENT_TEXTS, ROSTER, SPLITS
from favor.federation.schedule import client_names
from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.row_groups import write_row_groups
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    roster = read_parquet(snakemake.input.roster, ROSTER)
    roster = roster[roster["client"].isin(client_names(cfg["clients"], cfg["skip_clients"]))]
    others = ("clients", "skip_clients", "words")
    settings = AllocationSettings(**{name: value for name, value in cfg.items() if name not in others})
    splits = read_parquet(snakemake.input.splits, SPLITS)
    cleaning = CleaningSettings(words=cfg["words"])
    made = materialise(Path(snakemake.input.documents), splits, roster, settings, cleaning, settings.seed)
    if missed := missed_targets(made.allocation):
        print(missed, file=sys.stderr)
    write_parquet(made.allocation, snakemake.output.allocation, ALLOCATION)
    write_row_groups(made.texts, snakemake.output.texts, CLIENT_TEXTS, "client")
