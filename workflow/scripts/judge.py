"""Have every request judged, by an endpoint or a model on this machine; answers are kept as they come."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

from favor.foundation.parquet import read_parquet, write_parquet
from favor.foundation.registry import JUDGES
from favor.running.jobs.job import job
from favor.studies.judges.asking import AnswerCache, judge_all
from favor.studies.judges.tables import JUDGE_REQUESTS, JUDGEMENTS

with job(snakemake) as cfg:
    judge = JUDGES.load(cfg["model"]).open_judge(cfg)
    requests = read_parquet(snakemake.input.requests, JUDGE_REQUESTS)
    cache = AnswerCache(Path(snakemake.output.judgements).parent / "answers")
    judgements = judge_all(
        judge, requests, cache, cfg["maximum_requests"], cfg["answer_tokens"], cfg.get("parallel", 1)
    )
    write_parquet(judgements, snakemake.output.judgements, JUDGEMENTS)
