"""Draw the items of the human audit: candidates, the profiles beside them, and the key. Not for publication."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.generations import first_samples
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts
from favor.studies.human_audit.items import draw_items
from favor.studies.human_audit.schemas import HUMAN_2AFC_ITEMS
from favor.studies.settings import ItemsJob

with job(snakemake, ItemsJob) as settings:
    generations = first_samples(snakemake.input.generations)
    prompts = load_prompts(settings.seeds, snakemake.input.prompts)
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    write_parquet(draw_items(generations, prompts, texts, settings), snakemake.output.audit, HUMAN_2AFC_ITEMS)
