"""Write down every value an experiment runs with: protocol and budget applied, defaults filled in."""

from favor.foundation.files import write_json
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    write_json(cfg, snakemake.output.settings)
