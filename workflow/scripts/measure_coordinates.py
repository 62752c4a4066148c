"""Measure how much of every coordinate of the style space, and of hand-made features, authors and topics explain."""

from favor.analysis.coordinates import coordinate_effects
from favor.analysis.schemas import COORDINATE_EFFECTS
from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake):
    embeddings = read_parquet(snakemake.input.sources, SOURCE_EMBEDDINGS)
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    write_parquet(coordinate_effects(embeddings, texts), snakemake.output.effects, COORDINATE_EFFECTS)
