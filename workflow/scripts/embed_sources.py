"""Embed the clients' own texts in one encoder's space."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.base import load_encoder
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.encoders.settings import Encoding
from favor.foundation.parquet import read_parquet, write_row_groups
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, Encoding) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    encoder = load_encoder(settings.encoder.spec, settings.encoder.path)
    progress = Progress(f"source embeddings, {snakemake.wildcards.encoder}", texts["text"].nunique(), "texts")
    vectors = encoder.encode(texts["text"].tolist(), progress)
    progress.close()
    named = texts.rename(columns={"document_id": "item", "split": "kind"})
    frame = named[["client", "item", "kind", "topic"]].assign(embedding=list(vectors))
    write_row_groups(frame, snakemake.output.embeddings, SOURCE_EMBEDDINGS, "client")
