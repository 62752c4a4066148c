"""Distil every client's author sheet and persona from its own training texts; they stay with the client."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from favor.corpora.tables import CLIENT_TEXTS
from favor.federation.prompting import Lengths, distil_sheets
from favor.federation.tables import AUTHOR_SHEETS
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import load_base
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    base = load_base(**cfg["model"])
    sheets = distil_sheets(base, texts, Lengths(**cfg["lengths"]), cfg["repetition_penalty"], cfg["rows_per_batch"])
    write_parquet(sheets, snakemake.output.sheets, AUTHOR_SHEETS)
