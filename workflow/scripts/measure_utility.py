"""Put beside every BERTScore how alike the two texts' meanings are: the cosine of their sentence embeddings."""

from favor.encoders.schemas import GENERATION_EMBEDDINGS, SOURCE_EMBEDDINGS
from favor.federation.schemas import GENERATIONS
from favor.foundation.parquet import read_parquet, read_tables, write_parquet
from favor.running.jobs.job import job
from favor.scores.inputs import load_prompts
from favor.scores.schemas import BERTSCORE, UTILITY
from favor.scores.settings import Seeds
from favor.scores.utility_table import utility

with job(snakemake, Seeds) as settings:
    prompts = load_prompts(settings.seeds, snakemake.input.prompts)
    table = utility(
        read_tables(snakemake.input.generations, GENERATIONS),
        prompts,
        read_parquet(snakemake.input.bertscore, BERTSCORE),
        read_parquet(snakemake.input.embeddings, GENERATION_EMBEDDINGS),
        read_parquet(snakemake.input.golds, SOURCE_EMBEDDINGS),
    )
    write_parquet(table, snakemake.output.utility, UTILITY)
