"""Choose the prompts that every client continues: from posts of authors without a role, or the user's own."""

from pathlib import Path

from favor.corpora.common_prompts import read_common_prompts, select_common_prompts
from favor.corpora.documents import copied_documents
from favor.corpora.schemas import CLIENT_TEXTS, COMMON_PROMPTS, ROSTER
from favor.corpora.settings import CommonSelection
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, CommonSelection) as settings:
    tokenizer = settings.tokenizer_folder
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS, ["client", "training_text"])
    if snakemake.input.source:
        prompts = read_common_prompts(Path(snakemake.input.source), tokenizer, settings.common, texts)
    else:
        roster = read_parquet(snakemake.input.roster, ROSTER)
        copied = copied_documents(snakemake.input.near_duplicates)
        documents = Path(snakemake.input.documents)
        prompts = select_common_prompts(documents, roster, texts, tokenizer, settings.cut, settings.common, copied)
    write_parquet(prompts, snakemake.output.prompts, COMMON_PROMPTS)
