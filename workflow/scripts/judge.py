"""Have every request judged, by an endpoint or a model on this machine; answers are kept as they come."""

from pathlib import Path

from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.registry import JUDGES
from favor.running.jobs.job import job
from favor.studies.judges.asking import AnswerCache, judge_all
from favor.studies.judges.schemas import JUDGE_REQUESTS, JUDGEMENTS
from favor.studies.settings import JudgeJob

with job(snakemake, JudgeJob) as settings:
    judge = JUDGES.load(settings.model).open_judge(settings)
    requests = read_parquet(snakemake.input.requests, JUDGE_REQUESTS)
    cache = AnswerCache(Path(snakemake.output.judgements).parent / "answers")
    parallel = 1 if settings.endpoint is None else settings.endpoint.parallel
    judgements = judge_all(judge, requests, cache, settings.maximum_requests, settings.answer_tokens, parallel)
    write_parquet(judgements, snakemake.output.judgements, JUDGEMENTS)
