"""Write the shared adapter every track of a seed starts from: PEFT's default initialisation, seeded."""

from favor.federation.local import lora_settings
from favor.foundation.files import write_safetensors
from favor.foundation.job import job
from favor.lm.configuration import load_configuration
from favor.lm.lora import initial_state

with job(snakemake) as cfg:
    seed = int(snakemake.wildcards.seed)
    state = initial_state(load_configuration(cfg["model"]["source"]), lora_settings(cfg), seed)
    write_safetensors(state, snakemake.output.adapter, {"kind": "shared adapter", "seed": str(seed), "round": "0"})
