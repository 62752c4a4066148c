"""Compare pairs of methods on the outputs that survive in both: intervals, sign flips, exact tests, Holm."""

from pathlib import Path

from favor.analysis.comparisons import compare_methods
from favor.analysis.settings import Compared
from favor.analysis.tables import COMPARISONS
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, Compared) as settings:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(settings.encoders, map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(settings.encoders, zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        Path(snakemake.input.utility),
        assistant=Path(snakemake.input.assistant) if snakemake.input.assistant else None,
    )
    bootstrap = settings.bootstrap
    table = compare_methods(inputs, settings.pairs, settings.metrics, settings.exact, bootstrap.seed, bootstrap.draws)
    write_parquet(table, snakemake.output.comparisons, COMPARISONS)
