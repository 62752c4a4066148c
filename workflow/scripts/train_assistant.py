"""Train and calibrate the classifier behind the assistant score, on people who are not clients."""

from favor.running.devices.leases import lease

lease(snakemake)  # before torch is imported

from pathlib import Path

from favor.corpora.assistant_texts import classifier_texts, human_texts, read_assistant
from favor.corpora.tables import ROSTER
from favor.encoders.asce_training import AsceSettings
from favor.encoders.assistant import train_assistant
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    roster = read_parquet(snakemake.input.roster, ROSTER)
    seed = derive_seed(cfg["seed"], "assistant classifier")
    people = sorted(roster.loc[roster["role"] == cfg["role"], "author"])
    chosen = numpy_generator(seed, "people").permutation(len(people))[: cfg["people"]]
    clients = roster.loc[roster["role"] == "client", "author"]
    texts = classifier_texts(
        read_assistant(Path(snakemake.input.assistant), cfg["column"]),
        human_texts(Path(snakemake.input.documents), [people[at] for at in chosen]),
        cfg["texts"],
        seed,
        cfg["words"],
    )
    settings = AsceSettings.from_mapping(cfg["training"])
    train_assistant(texts, settings, seed, Path(snakemake.output.weights).parent, clients)
