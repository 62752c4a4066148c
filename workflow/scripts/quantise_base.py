"""Quantise a base model once, so that every later job loads a quarter of the bytes and quantises nothing."""

from favor.foundation.devices import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

from favor.foundation.job import job
from favor.lm.base import load_base, save_base

with job(snakemake) as cfg:
    save_base(load_base(**cfg), Path(snakemake.output.weights).parent)
