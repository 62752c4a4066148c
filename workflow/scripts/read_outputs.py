"""Take continuations that were made elsewhere as a run's, and filter them like any other."""

from pathlib import Path

from favor.corpora.schemas import COMMON_PROMPTS
from favor.federation.outside import given_outputs, prompts_to_answer
from favor.federation.schemas import GATES, GENERATIONS
from favor.federation.settings import GivenOutputs
from favor.foundation.parquet import read_tables, write_parquet
from favor.foundation.tokenizer import open_tokenizer
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts
from favor.scores.text_quality import generations_table

with job(snakemake, GivenOutputs) as settings:
    own = load_prompts(settings.seeds, snakemake.input.prompts)
    common = read_tables(snakemake.input.common_prompts, COMMON_PROMPTS)
    seed, tokenizer = int(snakemake.wildcards.seed), open_tokenizer(settings.tokenizer_folder)
    found = given_outputs(Path(snakemake.input.source), prompts_to_answer(own, common), seed)
    for kind, output in ((False, snakemake.output.generations), (True, snakemake.output.common_generations)):
        chosen = found[found["common"] == kind]
        run = chosen[["client", "prompt_id", "sample"]].assign(seed=seed, method=snakemake.wildcards.method)
        texts = chosen["text"].tolist()
        tokens = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        write_parquet(generations_table(run, texts, tokens, settings.generation, settings.words), output, GENERATIONS)
    write_parquet(GATES.empty(), snakemake.output.gates, GATES)
