"""Cut held-out posts into evaluation prompts and the authors' own continuations, for one seed."""

import sys
from collections import Counter

from favor.corpora.copies import word_runs
from favor.corpora.documents import copied_documents
from favor.corpora.prompts import few_prompts, select_prompts
from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.corpora.settings import PromptSelection
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, PromptSelection) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    trained = None
    if settings.shared_passages == "drop":
        trained = word_runs(read_parquet(snakemake.input.trained, CLIENT_TEXTS, ["training_text"])["training_text"])
    copied, seed = copied_documents(snakemake.input.near_duplicates), int(snakemake.wildcards.seed)
    prompts = select_prompts(texts, settings.tokenizer_folder, settings, seed, copied, trained)
    counts = Counter(prompts["client"])
    if line := few_prompts(counts, settings.per_client, "too few test posts are long enough"):
        print(line, file=sys.stderr)
    write_parquet(prompts, snakemake.output.prompts, PROMPTS)
