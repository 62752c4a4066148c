"""Average the uploads of one round into the shared adapter of the next."""

from favor.federation.packs import read_pack
from favor.federation.server import aggregate
from favor.foundation.files import read_safetensors, write_safetensors
from favor.foundation.job import job

with job(snakemake) as cfg:
    shared, _ = read_safetensors(snakemake.input.adapter)
    deltas, weights = {}, {}
    for path in snakemake.input.uploads:
        pack, header = read_pack(path)
        for client, parts in pack.items():
            deltas[client] = parts["delta"]
            weights[client] = 1.0 if cfg["weighting"] == "uniform" else float(header[f"words of {client}"])
    state = aggregate(shared, deltas, weights, cfg["server_learning_rate"])
    header = {"kind": "shared adapter", "seed": snakemake.wildcards.seed, "round": snakemake.wildcards.next_round}
    write_safetensors(state, snakemake.output.adapter, header)
