"""Dequantise the GGUF file of a base model once, so that every later job loads a plain folder."""

from pathlib import Path

from favor.lm.gguf import dequantise
from favor.running.jobs.job import job

with job(snakemake):
    dequantise(snakemake.input.gguf, Path(snakemake.output.weights).parent)
