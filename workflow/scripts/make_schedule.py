"""Write which clients take part in which round, for one seed and sampling rule."""

from favor.federation.schedule import client_names, cohorts, schedule_frame
from favor.federation.schemas import SCHEDULE
from favor.federation.settings import Scheduling
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake, Scheduling) as settings:
    rounds = cohorts(
        int(snakemake.wildcards.seed),
        client_names(settings.clients, settings.skip_clients),
        settings.rounds,
        settings.clients_per_round,
        snakemake.wildcards.sampling,
    )
    write_parquet(schedule_frame(rounds), snakemake.output.schedule, SCHEDULE)
