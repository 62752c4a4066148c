"""Continue every held-out prompt with its client's adapter, many adapters in one batch, and filter what comes."""

import pandas as pd

from favor.federation.local import POOLED, lora_settings
from favor.federation.packs import compose, read_packs
from favor.foundation.files import read_parquet, read_safetensors, write_parquet
from favor.foundation.job import job
from favor.foundation.progress import Progress
from favor.lm.base import load_base
from favor.lm.generation import GenerationRequest, generate
from favor.lm.lora import from_arrays
from favor.scores.text_quality import quality_columns

with job(snakemake) as cfg:
    prompts = read_parquet(snakemake.input.prompts, "prompts")
    settings = cfg["generation"]
    files = list(snakemake.input.adapters)
    shared = [path for path in files if path.endswith("adapter.safetensors")]
    packs = read_packs(path for path in files if path not in shared)
    states = {client: from_arrays(compose(parts)) for client, parts in packs.items() if parts}
    # A client that was never sampled generates with the final shared adapter; without any adapter, with the base.
    fallback = from_arrays(read_safetensors(shared[0])[0]) if shared else states.get(POOLED)
    base = load_base(
        **cfg["model"],
        target_modules=cfg["lora"]["target_modules"],
        context_needed=int(prompts["prompt_tokens"].str.len().max()) + settings["max_new_tokens"],
    )
    requests = [
        GenerationRequest(row.prompt_id, [int(token) for token in row.prompt_tokens], states.get(row.client, fallback))
        for row in prompts.itertuples()
    ]
    progress = Progress(f"{snakemake.wildcards.method}, continuations", len(requests), "texts")
    tokens = generate(
        base,
        lora_settings(cfg),
        requests,
        settings["max_new_tokens"],
        settings["repetition_penalty"],
        settings["rows_per_batch"],
        progress,
    )
    progress.close()
    frame = pd.DataFrame(
        {
            "seed": int(snakemake.wildcards.seed),
            "method": snakemake.wildcards.method,
            "client": prompts["client"],
            "prompt_id": prompts["prompt_id"],
            "text": [base.tokenizer.decode(row) for row in tokens],
            "tokens": [len(row) for row in tokens],
        }
    )
    limits = (settings["minimum_words"], settings["minimum_distinct_bigram_ratio"])
    frame = frame.join(quality_columns(frame["text"].tolist(), *limits))
    write_parquet(frame, snakemake.output.generations, "generations")
