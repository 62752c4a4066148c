"""Embed the continuations of every run of an experiment in one encoder's space."""

from pathlib import Path

import pandas as pd

from favor.encoders.base import load_encoder
from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.foundation.progress import Progress

with job(snakemake) as cfg:
    frames = [read_parquet(path, "generations") for path in snakemake.input.generations]
    generations = pd.concat(frames, ignore_index=True)
    folder = cfg["encoder"]["folder"]
    encoder = load_encoder(cfg["encoder"]["spec"], Path(folder) if folder else None)
    progress = Progress(f"embeddings, {snakemake.wildcards.encoder}", generations["text"].nunique(), "texts")
    vectors = encoder.encode(generations["text"].tolist(), progress)
    progress.close()
    frame = generations[["seed", "method", "client", "prompt_id"]].assign(embedding=list(vectors))
    write_parquet(frame, snakemake.output.embeddings, "generation_embeddings")
