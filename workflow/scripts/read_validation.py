"""Read the clients' validation texts under the final shared adapter of a track, by which its rate is chosen."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.inference import client_adapters, generating
from favor.federation.likelihoods import read_validation
from favor.federation.local import cut_of, validation_pieces
from favor.federation.method import Inference
from favor.federation.schemas import VALIDATION_LOSSES
from favor.federation.settings import ValidationReading
from favor.foundation.parquet import read_row_groups, write_parquet
from favor.lm.base import open_base
from favor.running.jobs.job import job

with job(snakemake, ValidationReading) as settings:
    clients, seed = settings.clients, int(snakemake.wildcards.seed)
    adapters = client_adapters([snakemake.input.adapter], clients, Inference.of(settings.generates))
    lora = generating(adapters, settings.lora)
    base = open_base(settings.model, lora)
    texts = read_row_groups(snakemake.input.texts, CLIENT_TEXTS, "client", clients)
    cut = cut_of(snakemake.input.requests, clients)
    pieces = {client: validation_pieces(base, texts, client, settings, seed, cut) for client in clients}
    losses = read_validation(base, lora, pieces, adapters, f"{snakemake.wildcards.track}, validation texts")
    write_parquet(losses, snakemake.output.losses, VALIDATION_LOSSES)
