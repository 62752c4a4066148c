"""Write the demo's assistant texts."""

from pathlib import Path

from favor.corpora.settings import DemoAssistant
from favor.demo.assistant import write_assistant
from favor.running.jobs.job import job

with job(snakemake, DemoAssistant) as settings:
    write_assistant(Path(snakemake.output[0]), settings)
