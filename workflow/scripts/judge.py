"""Have every request judged, by an endpoint or a model on this machine; answers are kept as they come."""

from favor.foundation.devices import lease

lease(snakemake)  # before torch is imported

import importlib
from pathlib import Path

from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.studies.judges_asking import AnswerCache, judge_all

with job(snakemake) as cfg:
    judge = importlib.import_module(f"favor.studies.judges_{cfg['model']}").open_judge(cfg)
    requests = read_parquet(snakemake.input.requests, "judge_requests")
    cache = AnswerCache(Path(snakemake.output.judgements).parent / "answers")
    judgements = judge_all(
        judge, requests, cache, cfg["maximum_requests"], cfg["answer_tokens"], cfg.get("parallel", 1)
    )
    write_parquet(judgements, snakemake.output.judgements, "judgements")
