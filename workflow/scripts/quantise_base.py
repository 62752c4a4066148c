"""Quantise a base model once, so that every later job loads a quarter of the bytes and quantises nothing."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

from favor.lm.base import load_base, save_base
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    save_base(load_base(**cfg), Path(snakemake.output.weights).parent)
