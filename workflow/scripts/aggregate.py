"""Average the uploads of one round into the shared adapter of the next; note what crossed to get there."""

from favor.federation.boundary import round_traffic
from favor.federation.packs import read_pack
from favor.federation.server import aggregate
from favor.federation.tables import TRAFFIC
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import read_safetensors, write_safetensors
from favor.running.job import job

with job(snakemake) as cfg:
    shared, _ = read_safetensors(snakemake.input.adapter)
    deltas, weights = {}, {}
    for path in snakemake.input.uploads:
        pack, header = read_pack(path)
        for client, parts in pack.items():
            deltas[client] = parts["delta"]
            weights[client] = 1.0 if cfg["weighting"] == "uniform" else float(header[f"words of {client}"])
    state = aggregate(shared, deltas, weights, cfg["server_learning_rate"])
    round_number = int(snakemake.wildcards.next_round) - 1
    weighted = cfg["weighting"] == "words"
    traffic = round_traffic(round_number, snakemake.input.adapter, snakemake.input.uploads, cfg["results"], weighted)
    write_parquet(traffic, snakemake.output.traffic, TRAFFIC)
    header = {"kind": "shared adapter", "seed": snakemake.wildcards.seed, "round": snakemake.wildcards.next_round}
    write_safetensors(state, snakemake.output.adapter, header)
