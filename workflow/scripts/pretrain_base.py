"""Pretrain a small base model from scratch on the background authors of a corpus."""

import sys
from pathlib import Path

from favor.corpora.authors import check_background
from favor.corpora.documents import stream_documents
from favor.corpora.schemas import AUTHORS
from favor.foundation.parquet import read_parquet
from favor.lm.pretrain import pretrain
from favor.lm.settings import ModelTraining
from favor.running.jobs.job import job
from favor.running.jobs.losses import write_losses
from favor.running.jobs.progress import Progress

with job(snakemake, ModelTraining) as settings:
    background = set(read_parquet(snakemake.input.background[0], AUTHORS)["author"])
    check_background(background, snakemake.input.background[0])
    batches = stream_documents(Path(snakemake.input.documents), ("author", "text"), authors=background)
    texts = [text for batch in batches for text in batch["text"]]
    folder = Path(snakemake.output.weights).parent
    progress = Progress("pretraining", settings.tokens, "tokens")
    tokenizer = Path(snakemake.input.tokenizer).parent
    report = pretrain(texts, tokenizer, settings, settings.seed, folder, progress)
    progress.close()
    write_losses(report.losses, report.tokens // report.steps, snakemake.log.losses)
    print(f"{report.parameters:,} parameters, held-out loss {report.held_out_loss:.3f} nats per token", file=sys.stderr)
