"""Embed the clients' own texts in one encoder's space."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import embed
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.encoders.settings import Encoding
from favor.foundation.parquet import read_parquet, write_row_groups
from favor.running.jobs.job import job

with job(snakemake, Encoding) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    vectors = embed(settings.encoder, texts["text"].tolist(), f"source embeddings, {snakemake.wildcards.encoder}")
    named = texts.rename(columns={"document_id": "item", "split": "kind"})
    frame = named[["client", "item", "kind", "topic"]].assign(embedding=list(vectors))
    write_row_groups(frame, snakemake.output.embeddings, SOURCE_EMBEDDINGS, "client")
