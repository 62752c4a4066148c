"""Score how much content the answers of every run keep, and how much voice they gain over the drafts."""

from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.schemas import SCORES
from favor.studies.settings import TaskScoring
from favor.studies.tasks.tasks import task_scores

with job(snakemake, TaskScoring) as settings:
    limits = {"filter": settings.generation, "words": settings.words}
    inputs = ScoreInputs.load(snakemake.input, settings.seeds, settings.encoders, **limits)
    places = zip(settings.encoders, snakemake.input.drafts, strict=True)
    drafts = {encoder: read_parquet(path, SOURCE_EMBEDDINGS) for encoder, path in places}
    bootstrap = settings.bootstrap
    scores = task_scores(inputs, drafts, settings.semantic_encoder, bootstrap.seed, bootstrap.draws)
    write_parquet(scores, snakemake.output.scores, SCORES)
