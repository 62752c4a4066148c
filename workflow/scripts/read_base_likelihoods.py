"""Choose the held-out texts that every client's model reads, and read them under the base model."""

from pathlib import Path

from favor.corpora.neutral import neutral_passages
from favor.corpora.schemas import CLIENT_TEXTS, COMMON_PROMPTS, NEAR_DUPLICATES, PROMPTS
from favor.federation.likelihoods import read_base, texts_to_read
from favor.federation.schemas import READ_TEXTS
from favor.federation.settings import BaseReading
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import open_base
from favor.running.jobs.job import job

with job(snakemake, BaseReading) as settings:
    sources = (
        (snakemake.input.prompts, PROMPTS),
        (snakemake.input.common_prompts, COMMON_PROMPTS),
        (snakemake.input.near_duplicates, NEAR_DUPLICATES),
    )
    left_out = {name for paths, table in sources for path in paths for name in read_parquet(path, table)["document_id"]}
    neutral = []
    if settings.neutral:
        neutral = neutral_passages(Path(snakemake.input.neutral[0]) if snakemake.input.neutral else None)
    base = open_base(settings.model, settings.lora, settings.prefix_tokens + settings.maximum_tokens)
    own = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    texts = texts_to_read(base.tokenizer, own, left_out, neutral, settings)
    write_parquet(read_base(base, settings.lora, texts), snakemake.output.texts, READ_TEXTS)
