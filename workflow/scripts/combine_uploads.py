"""Combine the uploads of one round by a robust rule; the server's step works on what comes of it."""

from favor.federation.combining import combined
from favor.federation.communication_record import round_traffic
from favor.federation.method import SharedStage
from favor.federation.settings import Combination
from favor.federation.uploads import Uploads, read_uploads, write_sum
from favor.foundation.registry import ROBUST_RULES
from favor.running.jobs.job import job

with job(snakemake, Combination) as settings:
    stage, round_number = SharedStage.of(settings.stage), int(snakemake.wildcards.round)
    uploads = read_uploads(snakemake.input.uploads, stage, round_number)
    traffic = round_traffic(round_number, snakemake.input.adapter, uploads.files, settings.results, stage)
    state = combined(uploads.deltas, ROBUST_RULES.load(settings.robust.rule).RULE, settings.robust)
    header = {"seed": snakemake.wildcards.seed, "round": snakemake.wildcards.round}
    # As the sum of one upload of weight 1, so that the server reads it as it reads any sum.
    write_sum(state, Uploads({}, {"all": 1.0}, []), traffic, snakemake.output.total, header)
