"""Score what every run sent, kept and trained, from the boundary record, the training logs and recorded wall times."""

from favor.federation.ranks import mean_share
from favor.federation.schemas import BOUNDARY, TRAINING_LOG
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.foundation.tensors import safetensors_shapes
from favor.running.jobs.job import job
from favor.scores.efficiency import efficiency_scores, trained_parameters, wall_seconds
from favor.scores.schemas import SCORES
from favor.scores.settings import Efficiency

with job(snakemake, Efficiency) as settings:
    logs, seconds = {}, {}
    for run in settings.runs:
        key = (run.seed, run.method)
        logs[key] = read_tables(run.logs, TRAINING_LOG)
        seconds[key] = wall_seconds(run.benchmarks)
    shapes = [safetensors_shapes(path) for path in snakemake.input.adapters] or [{}] * len(settings.seeds)
    adapters = dict(zip(settings.seeds, shapes, strict=True))
    parameters = {}
    for run in settings.runs:
        key = (run.seed, run.method)
        whole = trained_parameters(adapters[run.seed], run.trains, run.mixture)
        parameters[key] = whole * mean_share(run.ranks, run.seed, sorted(set(logs[key]["client"])))
    boundary = read_parquet(snakemake.input.boundary, BOUNDARY)
    write_parquet(efficiency_scores(boundary, logs, parameters, seconds), snakemake.output.scores, SCORES)
