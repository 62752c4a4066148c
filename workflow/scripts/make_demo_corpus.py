"""Write the embedded demo corpus: generated authors in the format of the Kaggle redistribution."""

from pathlib import Path

from favor.corpora.settings import DemoCorpus
from favor.demo.writer import write_demo
from favor.running.jobs.job import job

with job(snakemake, DemoCorpus) as settings:
    write_demo(Path(snakemake.output[0]), settings)
