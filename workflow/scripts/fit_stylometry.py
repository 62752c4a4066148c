"""Fit the stylometric space on the clients' training documents."""

from pathlib import Path

from favor.corpora.documents import stream_documents
from favor.corpora.schemas import ROSTER, SPLITS
from favor.encoders.kinds.stylometry import fit_stylometry
from favor.encoders.settings import Stylometry
from favor.foundation.parquet import read_parquet
from favor.running.jobs.job import job

with job(snakemake, Stylometry) as settings:
    roster = read_parquet(snakemake.input.roster, ROSTER)
    clients = set(roster.loc[roster["role"] == "client", "author"])
    splits = read_parquet(snakemake.input.splits, SPLITS)
    training = set(splits.loc[(splits["split"] == "train") & splits["author"].isin(clients), "document_id"])
    texts = []
    for batch in stream_documents(Path(snakemake.input.documents), ("document_id", "text")):
        texts += batch.loc[batch["document_id"].isin(training), "text"].tolist()
    fit_stylometry(texts, settings, Path(snakemake.output.weights).parent)
