"""Distil every client's author sheet and persona from its own training texts; they stay with the client."""

from favor.foundation.devices import lease

lease(snakemake)  # before torch is imported

from favor.federation.prompting import Lengths, distil_sheets
from favor.foundation.files import read_parquet, write_parquet
from favor.foundation.job import job
from favor.lm.base import load_base

with job(snakemake) as cfg:
    texts = read_parquet(snakemake.input.texts, "client_texts")
    base = load_base(**cfg["model"])
    sheets = distil_sheets(base, texts, Lengths(**cfg["lengths"]), cfg["repetition_penalty"], cfg["rows_per_batch"])
    write_parquet(sheets, snakemake.output.sheets, "author_sheets")
