"""Continue every held-out prompt with its client's adapter, many adapters in one batch, and filter what comes."""

from favor.running.devices import lease

lease(snakemake)  # before torch is imported

from favor.corpora.tables import PROMPTS
from favor.federation.inference import client_adapters, prompt_gates, requests
from favor.federation.local import lora_settings
from favor.federation.method import Inference
from favor.federation.tables import GATES, GENERATIONS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import load_base
from favor.lm.generation import generate
from favor.lm.widths import WidthMemory
from favor.running.job import job
from favor.running.progress import Progress
from favor.scores.text_quality import quality_columns

with job(snakemake) as cfg:
    prompts = read_parquet(snakemake.input.prompts, PROMPTS)
    settings, lora = cfg["generation"], lora_settings(cfg)
    adapters = client_adapters(snakemake.input.adapters, sorted(set(prompts["client"])), Inference.of(cfg))
    prompts = prompts[prompts["client"].isin(list(adapters))].reset_index(drop=True)
    base = load_base(
        **cfg["model"],
        target_modules=cfg["lora"]["target_modules"],
        context_needed=int(prompts["prompt_tokens"].str.len().max()) + settings["max_new_tokens"],
    )
    rows = [(row.prompt_id, row.client, [int(token) for token in row.prompt_tokens]) for row in prompts.itertuples()]
    gates = prompt_gates(base, lora, rows, adapters)
    asked = requests(rows, adapters, gates)
    progress = Progress(f"{snakemake.wildcards.method}, continuations", len(asked), "texts")
    memory = WidthMemory(base, {"stage": "generation", "lora": cfg["lora"], **cfg["generation"]})
    widths = memory.recall()
    tokens = generate(
        base,
        lora,
        asked,
        settings["max_new_tokens"],
        settings["repetition_penalty"],
        settings["rows_per_batch"],
        progress,
        widths,
    )
    memory.remember(widths)
    progress.close()
    run = prompts[["client", "prompt_id"]].assign(seed=int(snakemake.wildcards.seed), method=snakemake.wildcards.method)
    texts = [base.tokenizer.decode(row) for row in tokens]
    frame = run.assign(sample=0, text=texts, tokens=[len(row) for row in tokens])
    limits = (settings["minimum_words"], settings["minimum_distinct_bigram_ratio"], cfg["words"])
    write_parquet(frame.join(quality_columns(texts, *limits)), snakemake.output.generations, GENERATIONS)
    gated = run.assign(gate=run["prompt_id"].map(gates).astype("float64")).dropna(subset="gate")
    write_parquet(gated, snakemake.output.gates, GATES)
