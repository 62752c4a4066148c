"""Score the certificates of an experiment's encoders."""

from favor.encoders.schemas import CERTIFICATE
from favor.foundation.parquet import read_parquet, write_parquet
from favor.running.jobs.job import job
from favor.scores.schemas import SCORES
from favor.scores.settings import Spaces
from favor.scores.stel import stel_scores

with job(snakemake, Spaces) as settings:
    files = zip(settings.encoders, snakemake.input.certificates, strict=True)
    certificates = {encoder: read_parquet(path, CERTIFICATE) for encoder, path in files}
    write_parquet(stel_scores(certificates), snakemake.output.scores, SCORES)
