"""Measure how personal adapters spread their update over layers and modules; adapters stay where they are."""

from favor.analysis.adapter_energy import adapter_energy
from favor.analysis.schemas import ADAPTER_ENERGY
from favor.federation.client_archive import read_pack
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake):
    table = adapter_energy(read_pack(path)[0] for path in snakemake.input.packs)
    write_parquet(table, snakemake.output.energy, ADAPTER_ENERGY)
