"""Write the demo's assistant texts."""

from pathlib import Path

from favor.corpora.demo.assistant import AssistantSettings, write_assistant
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    write_assistant(Path(snakemake.output[0]), AssistantSettings(**cfg))
