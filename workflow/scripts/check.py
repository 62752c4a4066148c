"""Put the pages about all corpora together."""

from pathlib import Path

from favor.corpora.readiness import UNCHECKED
from favor.foundation.files import write_text
from favor.running.jobs.job import job

with job(snakemake):
    pages = [Path(path).read_text(encoding="utf-8") for path in snakemake.input]
    page = "\n".join([*pages, UNCHECKED, ""])
    write_text(page, snakemake.output.page)
