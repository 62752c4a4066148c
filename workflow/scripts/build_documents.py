"""Read a raw corpus, clean it, and count every dropped row by reason."""

from pathlib import Path

from favor.corpora.building import build_documents
from favor.corpora.posts import ReaderSettings, open_reader
from favor.corpora.settings import DocumentBuilding
from favor.running.jobs.job import job
from favor.running.jobs.progress import Progress

with job(snakemake, DocumentBuilding) as settings:
    progress = Progress("documents", 0, "posts")
    build_documents(
        Path(snakemake.input[0]),
        open_reader(settings.reader),
        settings,
        Path(snakemake.output.documents),
        Path(snakemake.output.dropped),
        progress,
        ReaderSettings.of(settings),
        Path(snakemake.output.scripts),
        settings.filters.others_words,
    )
    progress.close()
