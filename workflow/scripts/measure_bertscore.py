"""Compare every continuation with the author's own by BERTScore, once per text."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

import pandas as pd

from favor.federation.tables import GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.bertscore_table import bertscores
from favor.scores.inputs import load_prompts
from favor.scores.tables import BERTSCORE

with job(snakemake) as cfg:
    frames = [read_parquet(path, GENERATIONS) for path in snakemake.input.generations]
    prompts = load_prompts(dict(zip(cfg["seeds"], map(Path, snakemake.input.prompts), strict=True)))
    settings = {
        "bertscore_source": cfg["bertscore"]["model"],
        "bertscore_layer": cfg["bertscore"]["layer"],
        "bertscore_tokens": cfg["bertscore"]["maximum_tokens"],
    }
    table = bertscores(pd.concat(frames, ignore_index=True), prompts, settings)
    write_parquet(table, snakemake.output.bertscore, BERTSCORE)
