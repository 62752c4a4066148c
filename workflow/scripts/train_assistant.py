"""Train and calibrate the classifier behind the assistant score, on people who are not clients."""

from pathlib import Path

import pandas as pd

from favor.corpora.assistant_texts import classifier_texts, read_assistant
from favor.corpora.documents import stream_documents
from favor.corpora.schemas import ROSTER
from favor.encoders.assistant import train_assistant
from favor.encoders.settings import AssistantTraining
from favor.foundation.parquet import read_parquet
from favor.foundation.seeds import derive_seed, numpy_generator
from favor.running.jobs.job import job

with job(snakemake, AssistantTraining) as settings:
    roster = read_parquet(snakemake.input.roster, ROSTER)
    seed = derive_seed(settings.seed, "assistant classifier")
    people = sorted(roster.loc[roster["role"] == settings.role, "author"])
    chosen = numpy_generator(seed, "people").permutation(len(people))[: settings.people]
    clients = roster.loc[roster["role"] == "client", "author"]
    authors = [people[at] for at in chosen]
    human = stream_documents(Path(snakemake.input.documents), ("author", "document_id", "text"), authors=authors)
    texts = classifier_texts(
        read_assistant(Path(snakemake.input.assistant), settings.column),
        pd.concat(human, ignore_index=True),
        settings.texts,
        seed,
        settings.words,
    )
    folder = Path(snakemake.output.weights).parent
    train_assistant(texts, settings.training, settings.source, seed, folder, clients)
