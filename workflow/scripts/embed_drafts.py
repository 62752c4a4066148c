"""Embed what models are asked, drafts or instructions, in one encoder's space."""

from favor.corpora.schemas import PROMPTS
from favor.encoders.base import load_encoder
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.encoders.settings import Encoding
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, Encoding) as settings:
    prompts = read_tables(snakemake.input.prompts, PROMPTS)
    encoder = load_encoder(settings.encoder.spec, settings.encoder.path)
    progress = Progress(f"embeddings, {snakemake.wildcards.encoder}", len(set(prompts["prompt_text"])), "texts")
    vectors = list(encoder.encode(prompts["prompt_text"].tolist(), progress))
    progress.close()
    drafts = prompts.rename(columns={"prompt_id": "item"})[["client", "item", "topic"]]
    write_parquet(drafts.assign(kind="draft", embedding=vectors), snakemake.output.drafts, SOURCE_EMBEDDINGS)
