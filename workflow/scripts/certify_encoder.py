"""Put STEL and STEL-or-Content to one encoder."""

from favor.encoders.base import load_encoder
from favor.encoders.schemas import CERTIFICATE
from favor.encoders.settings import Certification
from favor.encoders.stel import certify, read_items
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Certification) as settings:
    encoder = load_encoder(settings.encoder.spec, settings.encoder.path)
    write_parquet(certify(encoder.encode, read_items(settings.items)), snakemake.output.certificate, CERTIFICATE)
