"""Put STEL and STEL-or-Content to one encoder."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

from favor.encoders.base import load_encoder
from favor.encoders.stel import certify, read_items
from favor.encoders.tables import CERTIFICATE
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    folder = cfg["encoder"]["folder"]
    encoder = load_encoder(cfg["encoder"]["spec"], Path(folder) if folder else None)
    write_parquet(certify(encoder.encode, read_items(cfg["stel_items"])), snakemake.output.certificate, CERTIFICATE)
