"""Write every client's adapter in PEFT's format, one folder a client. They are private: no server ever reads them."""

from pathlib import Path

from favor.federation.inference import client_adapters, exported
from favor.federation.method import Inference
from favor.foundation.errors import UserError
from favor.lm.lora import export_peft
from favor.lm.settings import Lora
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    how = Inference.of(cfg)
    if how.inference == "adapters":
        raise UserError(
            f"{snakemake.wildcards.method}: its adapters are in PEFT's format already; use their own folder"
        )
    adapters = client_adapters(snakemake.input.adapters, cfg["clients"], how)
    for client, adapter in adapters.items():
        if adapter is None:
            raise UserError(
                f"{snakemake.wildcards.method}: it generates with the base alone; there is nothing to export"
            )
        state, settings = exported(adapter, Lora.model_validate(cfg["lora"]))
        export_peft(state, settings, cfg["base"], Path(snakemake.output.folder) / client)
