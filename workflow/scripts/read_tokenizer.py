"""Read the tokenizer out of the GGUF file of a base model, so that counting tokens waits for no weights."""

from pathlib import Path

from favor.lm.gguf import save_tokenizer
from favor.running.jobs.job import job

with job(snakemake):
    save_tokenizer(snakemake.input.gguf, Path(snakemake.output.tokenizer).parent)
