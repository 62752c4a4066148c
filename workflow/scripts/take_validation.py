"""Take the clients' validation losses at the end of a stage from its training logs."""

import pandas as pd

from favor.federation.schemas import TRAINING_LOG, VALIDATION_LOSSES
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.settings import ValidatedStage
from favor.scores.validation import final_losses

with job(snakemake, ValidatedStage) as settings:
    log = pd.concat([TRAINING_LOG.empty(), *(read_parquet(path, TRAINING_LOG) for path in settings.logs)])
    losses = final_losses(log, settings.stage, settings.stopped).items()
    write_parquet(
        pd.DataFrame(list(losses), columns=VALIDATION_LOSSES.names), snakemake.output.losses, VALIDATION_LOSSES
    )
