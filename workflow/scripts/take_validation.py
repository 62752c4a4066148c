"""Take the clients' validation losses at the end of a stage from its training logs."""

import pandas as pd

from favor.federation.schemas import TRAINING_LOG, VALIDATION_LOSSES
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.settings import ValidatedStage
from favor.scores.validation import final_losses

with job(snakemake, ValidatedStage) as settings:
    losses = final_losses(read_tables(settings.logs, TRAINING_LOG), settings.stage, settings.stopped)
    table = pd.DataFrame(list(losses.items()), columns=VALIDATION_LOSSES.names)
    write_parquet(table, snakemake.output.losses, VALIDATION_LOSSES)
