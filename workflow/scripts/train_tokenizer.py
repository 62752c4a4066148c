"""Train the byte-level BPE of a base model that is pretrained here, on background authors only."""

from pathlib import Path

from favor.corpora.documents import stream_documents
from favor.corpora.schemas import AUTHORS
from favor.foundation.parquet import read_parquet
from favor.lm.settings import Vocabulary
from favor.lm.tokenizer import train_tokenizer
from favor.running.jobs.job import job

with job(snakemake, Vocabulary) as settings:
    background = set(read_parquet(snakemake.input.background[0], AUTHORS)["author"])
    # Too few to choose from leave none. Tokens are counted for 'favor check' all the same; no base is pretrained.
    texts = (
        text
        for batch in stream_documents(Path(snakemake.input.documents), ("author", "text"))
        for text in batch.loc[batch["author"].isin(background) | (not background), "text"]
    )
    train_tokenizer(texts, settings.vocabulary_size, Path(snakemake.output.tokenizer).parent)
