"""Score every encoder trained here on authors of another corpus, or record that none is configured."""

from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.foundation.files import read_json
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.studies.settings import TransferScoring
from favor.studies.transfer.transfer import TrainedOn, transfer_scores

with job(snakemake, TransferScoring) as settings:
    encoders = settings.encoders
    tables = [read_parquet(path, SOURCE_EMBEDDINGS) for path in snakemake.input.embeddings]
    manifests = [read_json(path)["manifest"] for path in snakemake.input.manifests]
    trained = [TrainedOn(manifest["authors"], manifest["training_texts"]) for manifest in manifests]
    scores = transfer_scores(
        dict(zip(encoders, tables, strict=True)) if tables else dict.fromkeys(encoders),
        dict(zip(encoders, trained, strict=True)),
        settings.bootstrap.seed,
        settings.bootstrap.draws,
    )
    write_parquet(scores, snakemake.output.scores, SCORES)
