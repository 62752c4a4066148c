"""Continue every held-out prompt with the base model and a longer prompt, and filter what comes."""

from favor.running.devices import lease

lease(snakemake)  # before torch is imported

from favor.corpora.tables import CLIENT_TEXTS, PROMPTS
from favor.federation.method import Prompting
from favor.federation.prompting import Lengths, prompted_requests
from favor.federation.tables import AUTHOR_SHEETS, GATES, GENERATIONS, PROMPTED_REQUESTS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import load_base
from favor.lm.generation import GenerationRequest, generate
from favor.lm.settings import LoraSettings
from favor.running.job import job
from favor.running.progress import Progress
from favor.scores.text_quality import quality_columns

with job(snakemake) as cfg:
    settings, prompting = cfg["generation"], Prompting(**cfg["prompting"])
    prompts = read_parquet(snakemake.input.prompts, PROMPTS)
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    sheets = read_parquet(snakemake.input.sheets, AUTHOR_SHEETS) if snakemake.input.sheets else None
    base = load_base(**cfg["model"])
    requests, tokens = prompted_requests(base, prompting, prompts, texts, sheets, Lengths(**cfg["lengths"]))
    run = requests[["client", "prompt_id"]].assign(
        seed=int(snakemake.wildcards.seed), method=snakemake.wildcards.method
    )
    named = [GenerationRequest(name, ids) for name, ids in zip(requests["prompt_id"], tokens, strict=True)]
    progress = Progress(f"{snakemake.wildcards.method}, continuations", len(named), "texts")
    limits = (settings["max_new_tokens"], settings["repetition_penalty"], settings["rows_per_batch"])
    answers = generate(base, LoraSettings(), named, *limits, progress)
    progress.close()
    made = [base.tokenizer.decode(answer) for answer in answers]
    filtered = (settings["minimum_words"], settings["minimum_distinct_bigram_ratio"], cfg["words"])
    quality = quality_columns(made, *filtered)
    frame = run.assign(sample=0, text=made, tokens=list(map(len, answers))).join(quality)
    write_parquet(frame, snakemake.output.generations, GENERATIONS)
    write_parquet(
        run.join(requests.drop(columns=["client", "prompt_id"])), snakemake.output.requests, PROMPTED_REQUESTS
    )
    write_parquet(GATES.empty(), snakemake.output.gates, GATES)
