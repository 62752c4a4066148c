"""Quantise a base model once, so that every later job loads a quarter of the bytes and quantises nothing."""

from pathlib import Path

from favor.lm.base import open_base, save_base
from favor.lm.settings import LoadedModel
from favor.running.jobs.job import job

with job(snakemake, LoadedModel) as settings:
    save_base(open_base(settings), Path(snakemake.output.weights).parent)
