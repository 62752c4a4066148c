"""Compare every continuation with the author's own by BERTScore, once per text."""

from pathlib import Path

import pandas as pd

from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.bertscore import bertscores
from favor.scores.inputs import load_prompts
from favor.scores.schemas import BERTSCORE
from favor.scores.settings import BertScoring

with job(snakemake, BertScoring) as settings:
    frames = [read_parquet(path, GENERATIONS) for path in snakemake.input.generations]
    prompts = load_prompts(dict(zip(settings.seeds, map(Path, snakemake.input.prompts), strict=True)))
    table = bertscores(pd.concat(frames, ignore_index=True), prompts, settings.bertscore)
    write_parquet(table, snakemake.output.bertscore, BERTSCORE)
