"""Measure how much of every coordinate of the style space, and of hand-made features, authors and topics explain."""

from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.statistics.coordinates import coordinate_effects

with job(snakemake):
    embeddings = read_parquet(snakemake.input.sources, "source_embeddings")
    texts = read_parquet(snakemake.input.texts, "client_texts")
    write_parquet(coordinate_effects(embeddings, texts), snakemake.output.effects, "coordinate_effects")
