"""Export one run's verification pairs as PAN's truth and answers."""

from pathlib import Path

from favor.report.pan_export import pan_export, write_pan
from favor.running.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake) as cfg:
    encoder = snakemake.wildcards.encoder
    inputs = ScoreInputs.load(
        [Path(snakemake.input.generations)],
        {cfg["seed"]: Path(snakemake.input.prompts)},
        {encoder: Path(snakemake.input.embeddings)},
        {encoder: (Path(snakemake.input.sources), Path(snakemake.input.golds))},
    )
    write_pan(pan_export(inputs, encoder, cfg["method"], cfg["seed"]), Path(snakemake.output.truth).parent)
