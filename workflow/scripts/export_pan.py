"""Export one run's verification pairs as PAN's truth and answers."""

import sys
from pathlib import Path

from favor.publish.pan_export import pan_export, write_pan
from favor.publish.settings import PanExport
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, PanExport) as settings:
    encoder = snakemake.wildcards.encoder
    inputs = ScoreInputs.load(snakemake.input, [settings.seed], [encoder])
    export = pan_export(inputs, encoder, settings.method, settings.seed)
    if export.note:
        print(f"export of {settings.method}, seed {settings.seed}: {export.note}", file=sys.stderr)
    write_pan(export, Path(snakemake.output.truth).parent)
