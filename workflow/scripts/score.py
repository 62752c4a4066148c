"""Score every run of an experiment, and the controls, with one metric family."""

from pathlib import Path

from favor.foundation.parquet import write_parquet
from favor.foundation.registry import METRIC_FAMILIES
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.tables import SCORES

with job(snakemake) as cfg:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(cfg["seeds"], map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(cfg["encoders"], map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(cfg["encoders"], zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        Path(snakemake.input.utility),
        Path(snakemake.input.texts),
        Path(snakemake.input.assistant) if snakemake.input.assistant else None,
        tuple(cfg["quality_limits"]),
        cfg["words"],
        [Path(path) for path in snakemake.input.common_generations],
        dict(zip(cfg["encoders"], map(Path, snakemake.input.common_embeddings), strict=False)),
        [Path(path) for path in snakemake.input.scores],
    )
    family = METRIC_FAMILIES.load(cfg["family"])
    write_parquet(family.score(inputs, cfg["settings"]), snakemake.output.scores, SCORES)
