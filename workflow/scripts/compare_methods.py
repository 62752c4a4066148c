"""Compare pairs of methods on the outputs that survive in both: intervals, sign flips, exact tests, Holm."""

from pathlib import Path

from favor.analysis.comparisons import compare_methods
from favor.analysis.tables import COMPARISONS
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake) as cfg:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(cfg["seeds"], map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(cfg["encoders"], map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(cfg["encoders"], zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        Path(snakemake.input.utility),
        assistant=Path(snakemake.input.assistant) if snakemake.input.assistant else None,
    )
    table = compare_methods(
        inputs, cfg["pairs"], cfg["metrics"], cfg["exact"], cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"]
    )
    write_parquet(table, snakemake.output.comparisons, COMPARISONS)
