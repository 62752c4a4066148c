"""Read a raw corpus, clean it, and count every dropped row by reason."""

from pathlib import Path

from favor.corpora.building import build_documents
from favor.corpora.cleaning import CleaningSettings
from favor.corpora.posts import ReaderSettings
from favor.corpora.reading import open_reader
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake) as cfg:
    progress = Progress("documents", 0, "posts")
    build_documents(
        Path(snakemake.input[0]),
        open_reader(cfg["reader"]),
        CleaningSettings(
            words=cfg["words"],
            shared_authors=cfg["shared_authors"],
            excluded_authors=cfg["excluded_authors"],
            excluded_texts=cfg["excluded_texts"],
        ),
        Path(snakemake.output.documents),
        Path(snakemake.output.dropped),
        progress,
        ReaderSettings(encoding=cfg["encoding"], columns=cfg["columns"]),
        Path(snakemake.output.scripts),
    )
    progress.close()
