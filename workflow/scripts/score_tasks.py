"""Score how much content the answers of every run keep, and how much voice they gain over the drafts."""

from pathlib import Path

from favor.encoders.tables import SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.tables import SCORES
from favor.studies.settings import TaskScoring
from favor.studies.tasks.tasks import task_scores

with job(snakemake, TaskScoring) as settings:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(settings.encoders, map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(settings.encoders, zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        filter=settings.generation,
        words=settings.words,
    )
    places = zip(settings.encoders, snakemake.input.drafts, strict=True)
    drafts = {encoder: read_parquet(path, SOURCE_EMBEDDINGS) for encoder, path in places}
    bootstrap = settings.bootstrap
    scores = task_scores(inputs, drafts, settings.semantic_encoder, bootstrap.seed, bootstrap.draws)
    write_parquet(scores, snakemake.output.scores, SCORES)
