"""Let the untouched base model turn every passage of the clients into what a model is asked for it."""

import sys

from favor.corpora.schemas import CLIENT_TEXTS
from favor.federation.schemas import REQUESTS
from favor.foundation.parquet import read_parquet, write_row_groups
from favor.lm.base import open_base
from favor.running.jobs.job import job
from favor.studies.settings import RequestMaking
from favor.studies.tasks.requesting import make_requests
from favor.studies.tasks.requests import REQUESTS as KINDS
from favor.studies.tasks.requests import refusals

with job(snakemake, RequestMaking) as settings:
    texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
    texts = texts[texts["split"].isin(settings.splits)]
    request = KINDS[settings.task]
    found = make_requests(open_base(settings.model), texts, request, settings.max_length)
    good, why = (found["refused"] == "").sum(), refusals(found["refused"]) or "none"
    print(f"{good} of {len(found)} passages have a {request.given}; refused: {why}", file=sys.stderr)
    write_row_groups(found, snakemake.output.requests, REQUESTS, "client")
