"""Export one run in the artefact layout of the paper's public release."""

import sys
from pathlib import Path

from favor.publish.release_export import write_release
from favor.publish.settings import ReleasedRun
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs

with job(snakemake, ReleasedRun) as run:
    inputs = ScoreInputs.load(snakemake.input, [run.seed], [run.style_encoder])
    for note in write_release(run, inputs, inputs.scores, Path(snakemake.output.generations).parent):
        print(f"export of {run.row}, seed {run.seed}: {note}", file=sys.stderr)
