"""Compare every continuation with the author's own by BERTScore, once per text."""

from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.bertscore import bertscores
from favor.scores.inputs import load_prompts
from favor.scores.schemas import BERTSCORE
from favor.scores.settings import BertScoring

with job(snakemake, BertScoring) as settings:
    prompts = load_prompts(settings.seeds, snakemake.input.prompts)
    table = bertscores(read_tables(snakemake.input.generations, GENERATIONS), prompts, settings.bertscore)
    write_parquet(table, snakemake.output.bertscore, BERTSCORE)
