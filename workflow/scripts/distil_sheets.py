"""Distil every client's author sheet and persona from its own training texts; they stay with the client."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.schemas import AUTHOR_SHEETS
from favor.federation.settings import SheetDistilling
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import open_base
from favor.running.jobs.job import job
from favor.studies.prompting.requests import distil_sheets

with job(snakemake, SheetDistilling) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    base = open_base(settings.model)
    limits = (settings.repetition_penalty, settings.rows_per_batch)
    sheets = distil_sheets(base, texts, settings.lengths, *limits)
    write_parquet(sheets, snakemake.output.sheets, AUTHOR_SHEETS)
