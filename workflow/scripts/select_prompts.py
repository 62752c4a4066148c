"""Cut held-out posts into evaluation prompts and the authors' own continuations, for one seed."""

import sys

from favor.corpora.prompts import PromptSettings, select_prompts
from favor.corpora.tables import CLIENT_TEXTS, NEAR_DUPLICATES, PROMPTS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    settings = PromptSettings(**{name: value for name, value in cfg.items() if name != "tokenizer"})
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    copied = {
        name for path in snakemake.input.near_duplicates for name in read_parquet(path, NEAR_DUPLICATES)["document_id"]
    }
    made = select_prompts(texts, cfg["tokenizer"], settings, int(snakemake.wildcards.seed), copied)
    for row in made.shortfall.itertuples():
        print(
            f"{row.client}: only {row.prompts} of {row.wanted} prompts; too few test posts are long enough",
            file=sys.stderr,
        )
    write_parquet(made.prompts, snakemake.output.prompts, PROMPTS)
