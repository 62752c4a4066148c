"""Sum the uploads of one round, as secure aggregation would: the server reads the sum and no upload."""

from favor.federation.communication_record import round_traffic
from favor.federation.method import SharedStage
from favor.federation.settings import Summation
from favor.federation.uploads import cohort_sum, read_uploads, write_sum
from favor.running.jobs.job import job

with job(snakemake, Summation) as settings:
    stage, round_number = SharedStage.of(settings.stage), int(snakemake.wildcards.round)
    uploads = read_uploads(snakemake.input.uploads, stage, round_number)
    traffic = round_traffic(round_number, snakemake.input.adapter, uploads.files, settings.results, stage)
    total = cohort_sum(uploads, stage, int(snakemake.wildcards.seed), round_number)
    header = {"seed": snakemake.wildcards.seed, "round": snakemake.wildcards.round}
    write_sum(total, uploads, traffic, snakemake.output.total, header)
