"""Choose the requests of held-out passages that methods answer, and the passages as the authors' own answers."""

import sys
from collections import Counter

from favor.corpora.copies import word_runs
from favor.corpora.documents import copied_documents
from favor.corpora.prompts import few_prompts
from favor.corpora.schemas import CLIENT_TEXTS, PROMPTS
from favor.federation.schemas import REQUESTS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.studies.settings import RequestSelection
from favor.studies.tasks.requests import REQUESTS as KINDS
from favor.studies.tasks.selecting import select_requests

with job(snakemake, RequestSelection) as settings:
    requests = read_parquet(snakemake.input.requests, REQUESTS)
    trained = None
    if settings.shared_passages == "drop":
        trained = word_runs(read_parquet(snakemake.input.trained, CLIENT_TEXTS, ["training_text"])["training_text"])
    copied, seed = copied_documents(snakemake.input.near_duplicates), int(snakemake.wildcards.seed)
    prompts = select_requests(requests, KINDS[settings.task], settings, seed, copied, trained)
    counts = Counter(prompts["client"])
    if line := few_prompts(counts, settings.per_client, "too few drafts serve"):
        print(line, file=sys.stderr)
    write_parquet(prompts, snakemake.output.prompts, PROMPTS)
