"""Score every run of an experiment, and the controls, with one metric family."""

from pathlib import Path

from favor.foundation.parquet import write_parquet
from favor.foundation.registry import METRIC_FAMILIES
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.settings import Scoring
from favor.scores.tables import SCORES

with job(snakemake, Scoring) as settings:
    inputs = ScoreInputs.load(
        [Path(path) for path in snakemake.input.generations],
        dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)),
        dict(zip(settings.encoders, map(Path, snakemake.input.embeddings), strict=True)),
        dict(zip(settings.encoders, zip(snakemake.input.sources, snakemake.input.golds, strict=True), strict=True)),
        Path(snakemake.input.utility),
        Path(snakemake.input.texts),
        Path(snakemake.input.assistant) if snakemake.input.assistant else None,
        settings.generation,
        settings.words,
        [Path(path) for path in snakemake.input.common_generations],
        dict(zip(settings.encoders, map(Path, snakemake.input.common_embeddings), strict=False)),
        [Path(path) for path in snakemake.input.scores],
        settings.bertscore,
        settings.unseen,
    )
    family = METRIC_FAMILIES.load(settings.family)
    write_parquet(family.score(inputs, *settings.scores.of(settings.family)), snakemake.output.scores, SCORES)
