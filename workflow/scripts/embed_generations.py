"""Embed the continuations of every run, and the authors' own continuations, in one encoder's space."""

from favor.foundation.devices import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

import pandas as pd

from favor.encoders.base import load_encoder
from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.foundation.progress import Progress

with job(snakemake) as cfg:
    generations = pd.concat([read_parquet(p, "generations") for p in snakemake.input.generations], ignore_index=True)
    prompts = pd.concat([read_parquet(p, "prompts") for p in snakemake.input.prompts], ignore_index=True)
    texts = generations["text"].tolist() + prompts["gold_text"].tolist()
    folder = cfg["encoder"]["folder"]
    encoder = load_encoder(cfg["encoder"]["spec"], Path(folder) if folder else None)
    progress = Progress(f"embeddings, {snakemake.wildcards.encoder}", len(set(texts)), "texts")
    vectors = list(encoder.encode(texts, progress))
    progress.close()
    runs = generations[["seed", "method", "client", "prompt_id"]].assign(embedding=vectors[: len(generations)])
    golds = prompts.rename(columns={"prompt_id": "item"})[["client", "item", "topic"]]
    golds = golds.assign(kind="gold", embedding=vectors[len(generations) :])
    write_parquet(runs, snakemake.output.embeddings, "generation_embeddings")
    write_parquet(golds, snakemake.output.golds, "source_embeddings")
