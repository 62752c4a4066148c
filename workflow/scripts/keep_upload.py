"""Keep a copy of the uploads of a job, which go once they are aggregated."""

import shutil

from favor.foundation.files import atomic_path
from favor.running.jobs.job import job

with job(snakemake), atomic_path(snakemake.output.kept) as temporary:
    shutil.copyfile(snakemake.input.upload, temporary)
