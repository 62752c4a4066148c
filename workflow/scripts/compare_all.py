"""Compare all rows of an experiment in pairs, in every metric, over authors."""

from favor.analysis.evidence import all_pairs
from favor.analysis.schemas import EVIDENCE
from favor.analysis.settings import ComparedRows
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, ComparedRows) as settings:
    limits = {"filter": settings.generation, "words": settings.words, "unseen": settings.unseen}
    inputs = ScoreInputs.load(snakemake.input, settings.seeds, settings.encoders, **limits)
    table = all_pairs(inputs, settings.bootstrap.seed, settings.bootstrap.draws)
    write_parquet(table, snakemake.output.evidence, EVIDENCE)
