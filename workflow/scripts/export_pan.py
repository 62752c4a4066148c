"""Export one run's verification pairs as PAN's truth and answers."""

import sys
from pathlib import Path

from favor.publish.pan_export import pan_export, write_pan
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake) as cfg:
    encoder = snakemake.wildcards.encoder
    inputs = ScoreInputs.load(
        [Path(snakemake.input.generations)],
        {cfg["seed"]: Path(snakemake.input.prompts)},
        {encoder: Path(snakemake.input.embeddings)},
        {encoder: (Path(snakemake.input.sources), Path(snakemake.input.golds))},
    )
    export = pan_export(inputs, encoder, cfg["method"], cfg["seed"])
    if export.note:
        print(f"export of {cfg['method']}, seed {cfg['seed']}: {export.note}", file=sys.stderr)
    write_pan(export, Path(snakemake.output.truth).parent)
