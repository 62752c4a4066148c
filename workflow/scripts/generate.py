"""Continue every prompt with its client's adapter, many adapters in one batch, and filter what comes."""

import numpy as np

from favor.corpora.common_prompts import client_prompts
from favor.corpora.schemas import COMMON_PROMPTS, PROMPTS
from favor.federation.inference import adapted_requests, answers, client_adapters, foreign_adapters, generating
from favor.federation.method import Inference
from favor.federation.schemas import GATES, GENERATIONS
from favor.federation.settings import GenerationJob
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.lm.base import open_base
from favor.lm.batch_limits import WidthMemory
from favor.lm.peft_import import check_shapes
from favor.running.jobs.job import job
from favor.scores.text_quality import generations_table

with job(snakemake, GenerationJob) as settings:
    prompts = read_parquet(snakemake.input.prompts, PROMPTS)
    decoding, lora = settings.generation, settings.lora
    how, clients = Inference.of(settings.generates), sorted(set(prompts["client"]))
    if how.inference == "adapters":
        adapters, lora = foreign_adapters(snakemake.input.adapters, clients)
    else:
        adapters = client_adapters(snakemake.input.adapters, clients, how)
        lora = generating(adapters, lora)
    chosen = clients if settings.clients is None else settings.clients  # those of this job
    adapters = {client: adapter for client, adapter in adapters.items() if client in chosen}
    prompts = prompts[prompts["client"].isin(list(adapters))].reset_index(drop=True)
    common = client_prompts(read_tables(snakemake.input.common_prompts, COMMON_PROMPTS), adapters)
    lengths = [frame["prompt_tokens"].str.len().max() for frame in (prompts, common) if len(frame)]
    base = open_base(settings.model, lora, int(max(lengths, default=0)) + decoding.max_new_tokens)
    if how.inference == "adapters":
        states = {client: adapter.state for client, adapter in adapters.items() if adapter is not None}
        check_shapes(states, base.model, lora)
    memory = WidthMemory(base, {"stage": "generation", "lora": settings.lora, "decoding": decoding})
    widths = memory.recall()
    seed, method = int(snakemake.wildcards.seed), snakemake.wildcards.method
    # Each kind in batches of its own, so that common prompts change no byte of the others.
    for kind, output, asked in (
        ("continuations", snakemake.output.generations, prompts),
        ("common prompts", snakemake.output.common_generations, common),
    ):
        run = asked[["client", "prompt_id"]].assign(seed=seed, method=method)
        requests, gates = adapted_requests(base, lora, asked, adapters)
        rows, tokens = answers(base, lora, run, requests, decoding, f"{method}, {kind}", widths)
        texts = [base.tokenizer.decode(row) for row in tokens]
        write_parquet(generations_table(rows, texts, tokens, decoding, settings.words), output, GENERATIONS)
        if asked is prompts:
            gated = run.assign(gate=np.array(gates, dtype=np.float64)).dropna(subset="gate")
            write_parquet(gated, snakemake.output.gates, GATES)
    memory.remember(widths)
