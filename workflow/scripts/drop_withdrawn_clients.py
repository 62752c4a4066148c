"""Copy a table of clients for its evaluators, without the rows of those that withdrew."""

from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
from favor.corpora.settings import Withdrawals
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job

with job(snakemake, Withdrawals) as settings:
    table = {"texts": CLIENT_TEXTS, "allocation": ALLOCATION}.get(snakemake.wildcards.table, SOURCE_EMBEDDINGS)
    rows = read_parquet(snakemake.input.table, table)
    write_parquet(rows[~rows["client"].isin(settings.withdrawn)], snakemake.output.table, table)
