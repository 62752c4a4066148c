"""Compare all rows of an experiment in pairs, in every metric, over authors."""

from pathlib import Path

from favor.analysis.evidence import all_pairs
from favor.analysis.settings import ComparedRows
from favor.analysis.tables import EVIDENCE
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, ComparedRows) as settings:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(settings.encoders, map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(settings.encoders, zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        Path(snakemake.input.utility),
        assistant=Path(snakemake.input.assistant) if snakemake.input.assistant else None,
        filter=settings.generation,
        words=settings.words,
        unseen=settings.unseen,
    )
    table = all_pairs(inputs, settings.bootstrap.seed, settings.bootstrap.draws)
    write_parquet(table, snakemake.output.evidence, EVIDENCE)
