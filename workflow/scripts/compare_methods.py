"""Compare pairs of methods on the outputs that survive in both: intervals, sign flips, exact tests, Holm."""

from favor.analysis.comparisons import compare_methods
from favor.analysis.schemas import COMPARISONS
from favor.analysis.settings import Compared
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, Compared) as settings:
    inputs = ScoreInputs.load(snakemake.input, settings.seeds, settings.encoders)
    bootstrap = settings.bootstrap
    table = compare_methods(inputs, settings.pairs, settings.metrics, settings.exact, bootstrap.seed, bootstrap.draws)
    write_parquet(table, snakemake.output.comparisons, COMPARISONS)
