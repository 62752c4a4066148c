"""Train an Angular Style Classification Encoder on authors that have no other role."""

from pathlib import Path

import pandas as pd

from favor.corpora.documents import stream_documents
from favor.corpora.schemas import ROSTER, SPLITS
from favor.encoders.asce_training import train_asce
from favor.encoders.settings import StyleEncoder
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed
from favor.running.jobs.job import job

with job(snakemake, StyleEncoder) as settings:
    training = settings.training
    roster = read_parquet(snakemake.input.roster, ROSTER)
    members = sorted(roster.loc[roster["role"] == training.role, "author"])[: training.authors]
    others = roster.loc[~roster["role"].isin([training.role, "unused", "too_small"]), "author"]
    splits = read_parquet(snakemake.input.splits, SPLITS)
    batches = stream_documents(Path(snakemake.input.documents), ("author", "document_id", "text"), authors=members)
    texts = pd.concat(batches, ignore_index=True).merge(splits[["document_id", "split"]], on="document_id")
    folder = Path(snakemake.output.weights).parent
    # Named by role: two encoders of one seed must share neither initial weights nor order.
    seed = derive_seed(training.seed, "style encoder", training.role)
    train_asce(texts, training, settings.source, seed, folder, set(others))
