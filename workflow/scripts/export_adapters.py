"""Write every client's adapter in PEFT's format, one folder a client. They are private: no server ever reads them."""

from pathlib import Path

from favor.federation.inference import client_adapters, exported
from favor.federation.method import Inference
from favor.federation.settings import AdapterExport
from favor.foundation.errors import UserError
from favor.lm.lora import export_peft
from favor.running.jobs.job import job

with job(snakemake, AdapterExport) as settings:
    how = Inference.of(settings.generates)
    if how.inference == "adapters":
        raise UserError(
            f"{snakemake.wildcards.method}: its adapters are in PEFT's format already; use their own folder"
        )
    adapters = client_adapters(snakemake.input.adapters, settings.clients, how)
    for client, adapter in adapters.items():
        if adapter is None:
            raise UserError(
                f"{snakemake.wildcards.method}: it generates with the base alone; there is nothing to export"
            )
        state, lora = exported(adapter, settings.lora)
        export_peft(state, lora, settings.base, Path(snakemake.output.folder) / client)
