"""Score every encoder trained here on authors of another corpus, or record that none is configured."""

from favor.encoders.tables import SOURCE_EMBEDDINGS
from favor.foundation.files import read_json
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.tables import SCORES
from favor.studies.transfer.transfer import transfer_scores

with job(snakemake) as cfg:
    encoders, tables = cfg["encoders"], snakemake.input.embeddings or [None] * len(cfg["encoders"])
    embeddings = {
        encoder: path and read_parquet(path, SOURCE_EMBEDDINGS) for encoder, path in zip(encoders, tables, strict=True)
    }
    manifests = {
        encoder: read_json(path)["manifest"] for encoder, path in zip(encoders, snakemake.input.manifests, strict=True)
    }
    scores = transfer_scores(embeddings, manifests, cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"])
    write_parquet(scores, snakemake.output.scores, SCORES)
