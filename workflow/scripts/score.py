"""Score every run of an experiment, and the controls, with one metric family."""

from favor.foundation.parquet import write_parquet
from favor.foundation.registry import METRIC_FAMILIES
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.schemas import SCORES
from favor.scores.settings import Scoring

with job(snakemake, Scoring) as settings:
    inputs = ScoreInputs.load(
        snakemake.input,
        settings.seeds,
        settings.encoders,
        filter=settings.generation,
        words=settings.words,
        bertscore=settings.bertscore,
        unseen=settings.unseen,
    )
    family = METRIC_FAMILIES.load(settings.family)
    write_parquet(family.score(inputs, *settings.scores.of(settings.family)), snakemake.output.scores, SCORES)
