"""Export one run in the artefact layout of the paper's public release."""

import sys
from pathlib import Path

import pandas as pd

from favor.foundation.parquet import read_parquet
from favor.publish.release_export import write_release
from favor.publish.settings import ReleasedRun
from favor.running.jobs.job import job
from favor.scores.inputs import ScoreInputs
from favor.scores.tables import SCORES

with job(snakemake, ReleasedRun) as run:
    inputs = ScoreInputs.load(
        [Path(snakemake.input.generations)],
        {run.seed: Path(snakemake.input.prompts)},
        {run.style_encoder: Path(snakemake.input.embeddings)},
        {run.style_encoder: (Path(snakemake.input.sources), Path(snakemake.input.golds))},
        Path(snakemake.input.utility),
    )
    scores = pd.concat([read_parquet(path, SCORES) for path in snakemake.input.scores], ignore_index=True)
    for note in write_release(run, inputs, scores, Path(snakemake.output.generations).parent):
        print(f"export of {run.row}, seed {run.seed}: {note}", file=sys.stderr)
