"""Read every client's held-out texts, and neutral sentences, under what every client of one run generates with."""

from favor.federation.inference import client_adapters, foreign_adapters, generating
from favor.federation.likelihoods import read_adapters
from favor.federation.method import Inference
from favor.federation.schemas import LIKELIHOOD, READ_TEXTS
from favor.federation.settings import LikelihoodReading
from favor.foundation.parquet import read_parquet, write_parquet
from favor.lm.base import open_base
from favor.lm.peft_import import check_shapes
from favor.running.jobs.job import job

with job(snakemake, LikelihoodReading) as settings:
    how, lora, clients = Inference.of(settings.generates), settings.lora, settings.clients
    foreign = how.inference == "adapters"
    if foreign:
        adapters, lora = foreign_adapters(snakemake.input.adapters, clients)
    else:
        adapters = client_adapters(snakemake.input.adapters, clients, how)
        lora = generating(adapters, lora)
    base = open_base(settings.model, lora, settings.context)
    if foreign:
        states = {client: adapter.state for client, adapter in adapters.items() if adapter is not None}
        check_shapes(states, base.model, lora)
    seed, method = int(snakemake.wildcards.seed), snakemake.wildcards.method
    texts = read_parquet(snakemake.input.texts, READ_TEXTS)
    found = read_adapters(base, lora, texts, adapters, f"{method}, likelihoods")
    write_parquet(found.assign(seed=seed, method=method), snakemake.output.likelihood, LIKELIHOOD)
