"""Write an adapter that training starts from: PEFT's default initialisation, seeded."""

from favor.federation.settings import Initialisation
from favor.foundation.seeds import derive_seed
from favor.foundation.tensors import write_safetensors
from favor.lm.configuration import load_configuration
from favor.lm.lora import initial_state
from favor.running.jobs.job import job

with job(snakemake, Initialisation) as settings:
    seed, origin = int(snakemake.wildcards.seed), snakemake.wildcards.origin
    stream = seed if origin == "common" else derive_seed(seed, "initial adapter", origin)
    state = initial_state(load_configuration(settings.source), settings.lora, stream)
    write_safetensors(state, snakemake.output.adapter, {"kind": "shared adapter", "seed": str(seed), "round": "0"})
