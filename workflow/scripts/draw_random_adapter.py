"""Draw an adapter at random whose tensors are as long as those of a trained one."""

from favor.federation.server import random_like
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    seed = int(snakemake.wildcards.seed)
    state = random_like(read_safetensors(snakemake.input.adapter)[0], seed)
    write_safetensors(state, snakemake.output.adapter, {"kind": "shared adapter", "seed": str(seed), "round": "0"})
