"""Embed the continuations of every run, and the authors' own continuations, in one encoder's space."""

import pandas as pd

from favor.corpora.schemas import PROMPTS
from favor.encoders.base import load_encoder
from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.encoders.settings import Encoding
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress
from favor.scores.inputs import RUN_KEYS

with job(snakemake, Encoding) as settings:
    generations = read_tables(snakemake.input.generations, GENERATIONS)
    prompts = read_tables(snakemake.input.prompts, PROMPTS)
    common = read_tables(snakemake.input.common_generations, GENERATIONS)
    texts = [*generations["text"], *prompts["gold_text"]]
    encoder = load_encoder(settings.encoder.spec, settings.encoder.path)
    progress = Progress(f"embeddings, {snakemake.wildcards.encoder}", len({*texts, *common["text"]}), "texts")
    vectors = list(encoder.encode(texts, progress))
    # In batches of their own, so that they change no bit of the others.
    shared_vectors = list(encoder.encode(common["text"].tolist(), progress)) if len(common) else []
    progress.close()
    runs = generations[RUN_KEYS].assign(embedding=vectors[: len(generations)])
    golds = prompts.rename(columns={"prompt_id": "item"})[["client", "item", "topic"]]
    golds = golds.assign(kind="gold", embedding=vectors[len(generations) :])
    write_parquet(runs, snakemake.output.embeddings, GENERATION_EMBEDDINGS)
    made = common[RUN_KEYS].assign(embedding=pd.Series(shared_vectors, dtype=object))  # none may be common
    write_parquet(made, snakemake.output.common, GENERATION_EMBEDDINGS)
    write_parquet(golds, snakemake.output.golds, SOURCE_EMBEDDINGS)
