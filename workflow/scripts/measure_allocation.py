"""Measure how personal adapters spread their update over layers and modules; adapters stay where they are."""

from favor.federation.packs import read_pack
from favor.foundation.files import write_parquet
from favor.foundation.job import job
from favor.statistics.adapter_energy import adapter_energy

with job(snakemake):
    table = adapter_energy(read_pack(path)[0] for path in snakemake.input.packs)
    write_parquet(table, snakemake.output.energy, "adapter_energy")
