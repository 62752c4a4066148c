"""Embed what models are asked, drafts or instructions, in one encoder's space."""

from favor.corpora.schemas import PROMPTS
from favor.encoders.base import embed
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.encoders.settings import Encoding
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job

with job(snakemake, Encoding) as settings:
    prompts = read_tables(snakemake.input.prompts, PROMPTS)
    texts, label = prompts["prompt_text"].tolist(), f"embeddings, {snakemake.wildcards.encoder}"
    vectors = list(embed(settings.encoder, texts, label))
    drafts = prompts.rename(columns={"prompt_id": "item"})[["client", "item", "topic"]]
    write_parquet(drafts.assign(kind="draft", embedding=vectors), snakemake.output.drafts, SOURCE_EMBEDDINGS)
