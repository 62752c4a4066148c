"""Write which clients take part in which round, for one seed and sampling rule."""

from favor.federation.schedule import client_names, cohorts, schedule_frame
from favor.federation.tables import SCHEDULE
from favor.foundation.parquet import write_parquet
from favor.running.jobs.job import job

with job(snakemake) as cfg:
    rounds = cohorts(
        int(snakemake.wildcards.seed),
        client_names(cfg["clients"], cfg["skip_clients"]),
        cfg["rounds"],
        cfg["clients_per_round"],
        snakemake.wildcards.sampling,
    )
    write_parquet(schedule_frame(rounds), snakemake.output.schedule, SCHEDULE)
