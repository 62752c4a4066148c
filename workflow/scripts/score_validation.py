"""Score how well every run's models predict the clients' validation texts, from the training logs."""

from favor.federation.schemas import TRAINING_LOG
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.scores.settings import ValidationScoring
from favor.scores.validation import final_losses, personal_changes, validation_scores

with job(snakemake, ValidationScoring) as settings:
    losses: dict[str, list[dict[str, float]]] = {}
    changes: dict[str, list[dict[str, float]]] = {}
    for run in settings.runs:
        log = read_tables(run.logs, TRAINING_LOG)
        losses.setdefault(run.method, []).append(final_losses(log, run.stage, run.stopped))
        if run.stage == "personal":
            changes.setdefault(run.method, []).append(personal_changes(log, run.stopped))
    bootstrap = settings.bootstrap
    scores = validation_scores(losses, changes, settings.without, bootstrap.seed, bootstrap.draws)
    write_parquet(scores, snakemake.output.scores, SCORES)
