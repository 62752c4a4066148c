"""Choose the outputs that are judged, and write what the judge reads apart from who wrote it."""

import sys
from pathlib import Path

import pandas as pd

from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.scores.inputs import load_prompts
from favor.studies.judges_asking import estimate, question
from favor.studies.judges_design import Design, design_requests

with job(snakemake) as cfg:
    seeds, answer_tokens = cfg.pop("seeds"), cfg.pop("answer_tokens")
    methods, voice = tuple(cfg.pop("methods")), cfg.pop("voice")
    design = Design(methods, tuple(voice) if voice else None, **cfg)
    generations = pd.concat([read_parquet(path, "generations") for path in snakemake.input.generations])
    prompts = load_prompts(dict(zip(seeds, map(Path, snakemake.input.prompts), strict=True)))
    texts = read_parquet(snakemake.input.texts, "client_texts")
    requests, key = design_requests(design, generations, prompts, texts)
    questions = [question(row, {}, 0) for row in requests.itertuples()]
    print(estimate(len(questions), questions, answer_tokens).line("(any)"), file=sys.stderr)
    write_parquet(requests, snakemake.output.requests, "judge_requests")
    write_parquet(key, snakemake.output.key, "judge_key")
