"""Embed the clients' own texts, and their own continuations of the prompts, in one encoder's space."""

from pathlib import Path

import pandas as pd

from favor.encoders.base import load_encoder
from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.foundation.progress import Progress

with job(snakemake) as cfg:
    texts = read_parquet(snakemake.input.texts, "client_texts")
    if cfg["limit"] is not None:
        # The texts a client trains on come first, so that its style target never loses one to the limit.
        order = texts.assign(rest=texts["allocated_words"] == 0).sort_values(["client", "rest", "document_id"])
        texts = order.groupby(["client", "split"], sort=False).head(cfg["limit"])
    golds = pd.concat([read_parquet(path, "prompts") for path in snakemake.input.prompts], ignore_index=True)
    documents = texts.rename(columns={"document_id": "item", "split": "kind"})
    continuations = golds.assign(kind="gold").rename(columns={"prompt_id": "item", "gold_text": "text"})
    columns = ["client", "item", "kind", "topic", "text"]
    items = pd.concat([documents[columns], continuations[columns]], ignore_index=True)
    folder = cfg["encoder"]["folder"]
    encoder = load_encoder(cfg["encoder"]["spec"], Path(folder) if folder else None)
    progress = Progress(f"source embeddings, {snakemake.wildcards.encoder}", items["text"].nunique(), "texts")
    vectors = encoder.encode(items["text"].tolist(), progress)
    progress.close()
    frame = items.drop(columns="text").assign(embedding=list(vectors))
    write_parquet(frame, snakemake.output.embeddings, "source_embeddings")
