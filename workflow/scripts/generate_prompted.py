"""Continue every prompt with the base model and a longer prompt, and filter what comes."""

import pandas as pd

from favor.corpora.common_prompts import client_prompts
from favor.corpora.schemas import CLIENT_TEXTS, COMMON_PROMPTS, PROMPTS
from favor.federation.inference import answers
from favor.federation.method import Prompting
from favor.federation.schemas import AUTHOR_SHEETS, GATES, GENERATIONS, PROMPTED_REQUESTS
from favor.federation.settings import PromptedGeneration
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.inference.generation import GenerationRequest
from favor.lm.base import open_base
from favor.lm.batch_limits import WidthMemory
from favor.lm.settings import ALL_LINEAR
from favor.running.jobs.job import job
from favor.scores.text_quality import generations_table
from favor.studies.prompting.requests import prompted_requests

with job(snakemake, PromptedGeneration) as settings:
    decoding, prompting = settings.generation, Prompting(**settings.prompting)
    prompts = read_parquet(snakemake.input.prompts, PROMPTS)
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    sheets = read_parquet(snakemake.input.sheets, AUTHOR_SHEETS) if snakemake.input.sheets else None
    common = read_tables(snakemake.input.common_prompts, COMMON_PROMPTS)
    base = open_base(settings.model)
    memory = WidthMemory(base, {"stage": "prompted generation", "lengths": settings.lengths, "decoding": decoding})
    widths = memory.recall()
    named = {"seed": int(snakemake.wildcards.seed), "method": snakemake.wildcards.method}
    made = []
    for output, asked in (
        (snakemake.output.generations, prompts),
        (snakemake.output.common_generations, client_prompts(common, sorted(set(prompts["client"])))),
    ):
        requests, tokens = prompted_requests(base, prompting, asked, texts, sheets, settings.lengths)
        whole = [GenerationRequest(name, ids) for name, ids in zip(requests["prompt_id"], tokens, strict=True)]
        run = requests[["client", "prompt_id"]].assign(**named)
        rows, found = answers(base, ALL_LINEAR, run, whole, decoding, f"{named['method']}, continuations", widths)
        texts_made = [base.tokenizer.decode(answer) for answer in found]
        write_parquet(generations_table(rows, texts_made, found, decoding, settings.words), output, GENERATIONS)
        made.append(requests.assign(**named))
    memory.remember(widths)
    write_parquet(pd.concat(made), snakemake.output.requests, PROMPTED_REQUESTS)
    write_parquet(GATES.empty(), snakemake.output.gates, GATES)
