"""Aggregate the uploads of one round into the shared adapter of the next; note what crossed to get there."""

from favor.federation.communication_record import round_traffic
from favor.federation.exchange import next_shared
from favor.federation.method import SharedStage
from favor.federation.schemas import TRAFFIC
from favor.federation.server import step
from favor.federation.settings import Aggregation
from favor.federation.uploads import cohort_sum, mean_of_sum, read_sum, read_uploads
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.running.jobs.job import job

with job(snakemake, Aggregation) as settings:
    stage, rate = SharedStage.of(settings.stage), settings.server_learning_rate
    shared, _ = read_safetensors(snakemake.input.adapter)
    memory = read_safetensors(snakemake.input.memory[0])[0] if snakemake.input.get("memory") else {}
    round_number = int(snakemake.wildcards.next_round) - 1
    header = {"seed": snakemake.wildcards.seed, "round": snakemake.wildcards.next_round}
    if stage.aggregation == "sum_only":
        total, weight, traffic = read_sum(snakemake.input.uploads[0])
        state, kept = step(stage.server, shared, memory, mean_of_sum(total, weight, stage), rate)
    else:
        uploads = read_uploads(snakemake.input.uploads, stage, round_number)
        traffic = round_traffic(round_number, snakemake.input.adapter, uploads.files, settings.results, stage)
        if stage.server.kind == "members":
            header["members"] = str(len(uploads.deltas))
        if stage.privacy is None:
            state, kept = next_shared(stage, shared, memory, uploads.deltas, uploads.weights, rate)
        else:
            total = cohort_sum(uploads, stage, int(snakemake.wildcards.seed), round_number)
            state, kept = step(stage.server, shared, memory, mean_of_sum(total, 0.0, stage), rate)
    write_parquet(traffic, snakemake.output.traffic, TRAFFIC)
    if stage.server.moments:
        write_safetensors(kept, snakemake.output.memory, {"kind": "server moments", **header})
    write_safetensors(state, snakemake.output.adapter, {"kind": "shared adapter", **header})
