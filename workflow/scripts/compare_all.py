"""Compare all rows of an experiment in pairs, in every metric, over authors."""

from pathlib import Path

from favor.analysis.evidence import all_pairs
from favor.analysis.tables import EVIDENCE
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
        quality_limits=tuple(cfg["quality_limits"]),
        words=cfg["words"],
    )
    table = all_pairs(inputs, cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"])
    write_parquet(table, snakemake.output.evidence, EVIDENCE)
