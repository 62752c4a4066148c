"""Aggregate the uploads of one round into the shared adapter of the next; note what crossed to get there."""

from favor.federation.boundary import round_traffic
from favor.federation.method import SharedStage
from favor.federation.packs import read_pack
from favor.federation.server import update
from favor.federation.tables import TRAFFIC
from favor.foundation.parquet import write_parquet
from favor.foundation.tensors import read_safetensors, safetensors_header, write_safetensors
from favor.running.job import job

with job(snakemake) as cfg:
    stage = SharedStage.of(cfg["stage"])
    shared, _ = read_safetensors(snakemake.input.adapter)
    memory = read_safetensors(snakemake.input.memory[0])[0] if snakemake.input.get("memory") else {}
    round_number = int(snakemake.wildcards.next_round) - 1
    deltas, weights, uploads = {}, {}, []
    # A client's later upload takes the place of an earlier one, where a server has both.
    for path in sorted(snakemake.input.uploads, key=lambda path: int(safetensors_header(path)["round"])):
        pack, header = read_pack(path)
        if int(header["round"]) == round_number:
            uploads.append(path)
        for client, parts in pack.items():
            deltas[client] = parts[stage.content]
            weights[client] = 1.0 if stage.weighting == "uniform" else float(header[f"words of {client}"])
    state, kept = update(stage.server, shared, memory, deltas, weights, cfg["server_learning_rate"])
    crossed = (round_number, snakemake.input.adapter, uploads, cfg["results"])
    traffic = round_traffic(*crossed, stage.weighting == "words", stage.sends)
    write_parquet(traffic, snakemake.output.traffic, TRAFFIC)
    header = {"seed": snakemake.wildcards.seed, "round": snakemake.wildcards.next_round}
    if stage.server.kind == "members":
        header["members"] = str(len(deltas))
    if stage.server.remembers:
        write_safetensors(kept, snakemake.output.memory, {"kind": "server moments", **header})
    write_safetensors(state, snakemake.output.adapter, {"kind": "shared adapter", **header})
