"""Score every encoder trained here on authors of another corpus, or record that none is configured."""

from favor.foundation.files import read_json, read_parquet, write_parquet
from favor.foundation.job import job
from favor.studies.transfer import transfer_scores

with job(snakemake) as cfg:
    encoders, tables = cfg["encoders"], snakemake.input.embeddings or [None] * len(cfg["encoders"])
    embeddings = {
        encoder: path and read_parquet(path, "source_embeddings")
        for encoder, path in zip(encoders, tables, strict=True)
    }
    manifests = {
        encoder: read_json(path)["manifest"] for encoder, path in zip(encoders, snakemake.input.manifests, strict=True)
    }
    scores = transfer_scores(embeddings, manifests, cfg["bootstrap"]["seed"], cfg["bootstrap"]["draws"])
    write_parquet(scores, snakemake.output.scores, "scores")
