"""Embed texts of another corpus's clients in one encoder's space; the encoder stays as it is."""

from pathlib import Path

from favor.corpora.held_out import transfer_texts
from favor.corpora.schemas import ROSTER, SPLITS
from favor.encoders.base import embed
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.encoders.settings import TransferEncoding
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, TransferEncoding) as settings:
    splits, roster = read_parquet(snakemake.input.splits, SPLITS), read_parquet(snakemake.input.roster, ROSTER)
    texts = transfer_texts(
        Path(snakemake.input.documents), splits, roster, settings.transfer.texts, settings.transfer.seed
    )
    vectors = embed(settings.encoder, texts["text"].tolist(), f"transfer embeddings, {snakemake.wildcards.encoder}")
    frame = texts.drop(columns="text").assign(embedding=list(vectors))
    write_parquet(frame, snakemake.output.embeddings, SOURCE_EMBEDDINGS)
