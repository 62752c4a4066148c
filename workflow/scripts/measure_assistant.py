"""Score every continuation, and the authors' own, by the assistant classifier: once a text."""

from pathlib import Path

import pandas as pd

from favor.encoders.assistant import load_assistant
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress
from favor.scores.inputs import RUN_KEYS, load_prompts
from favor.scores.schemas import ASSISTANT
from favor.scores.settings import Seeds

with job(snakemake, Seeds) as settings:
    generations = read_tables(snakemake.input.generations, GENERATIONS)
    prompts = load_prompts(settings.seeds, snakemake.input.prompts)
    golds = prompts.assign(method="gold", sample=0, text=prompts["gold_text"])
    table = pd.concat([frame[[*RUN_KEYS, "text"]] for frame in (generations, golds)], ignore_index=True)
    progress = Progress("assistant score", table["text"].nunique(), "texts")
    classifier = load_assistant(Path(snakemake.input.weights).parent)
    table["assistant_score"] = classifier.probabilities(table["text"].tolist(), progress)
    progress.close()
    write_parquet(table[[*RUN_KEYS, "assistant_score"]], snakemake.output.assistant, ASSISTANT)
