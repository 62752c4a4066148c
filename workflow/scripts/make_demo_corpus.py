"""Write the embedded demo corpus: generated authors in the format of the Kaggle redistribution."""

from pathlib import Path

from favor.corpora.demo.writer import DemoSettings, write_demo
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    write_demo(Path(snakemake.output[0]), DemoSettings(**cfg))
