"""Choose the outputs that are judged, and write what the judge reads apart from who wrote it."""

import sys

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.generations import first_samples
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts
from favor.studies.judges.asking import estimate, question
from favor.studies.judges.design import design_requests
from favor.studies.judges.schemas import JUDGE_KEY, JUDGE_REQUESTS
from favor.studies.settings import JudgementsJob

with job(snakemake, JudgementsJob) as settings:
    generations = first_samples(snakemake.input.generations)
    prompts = load_prompts(settings.seeds, snakemake.input.prompts)
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    requests, key = design_requests(settings, generations, prompts, texts)
    questions = [question(row, {}, 0) for row in requests.itertuples()]
    print(estimate("(any)", len(questions), questions, settings.answer_tokens), file=sys.stderr)
    write_parquet(requests, snakemake.output.requests, JUDGE_REQUESTS)
    write_parquet(key, snakemake.output.key, JUDGE_KEY)
