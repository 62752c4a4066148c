"""Train the shared stage of one round for the clients of one job; write what they upload and what they keep."""

from favor.federation.local import StageClient, arrays, run_stage, training_log
from favor.federation.packs import write_pack
from favor.federation.schedule import batches
from favor.federation.server import delta
from favor.federation.targets import style_targets
from favor.foundation.files import read_parquet, read_safetensors, write_parquet
from favor.foundation.job import job
from favor.lm.base import load_base

with job(snakemake) as cfg:
    seed, round_number = int(snakemake.wildcards.seed), int(snakemake.wildcards.round)
    stage = cfg["stage"]
    schedule = read_parquet(snakemake.input.schedule, "schedule")
    cohort = list(schedule.loc[schedule["round"] == round_number, "client"])
    names = batches(cohort, cfg["clients_per_job"])[int(snakemake.wildcards.batch)]
    texts = read_parquet(snakemake.input.texts, "client_texts")
    shared, _ = read_safetensors(snakemake.input.adapter)
    targets = {}
    if snakemake.input.style:
        targets = style_targets(read_parquet(snakemake.input.style[0], "source_embeddings"), texts, names)

    base = load_base(**cfg["model"], target_modules=cfg["lora"]["target_modules"])
    clients = [StageClient(name, round_number, shared, anchor=shared, target=targets.get(name)) for name in names]
    results = run_stage(base, clients, texts, stage, cfg, "shared", seed, f"shared stage, round {round_number}")

    header = {"seed": str(seed), "round": str(round_number), "track": snakemake.wildcards.track}
    endpoints = {result.name: arrays(result.state) for result in results}
    uploads = {name: {"delta": delta(state, shared, stage["upload_scale"])} for name, state in endpoints.items()}
    # The allocation, not the texts: where it is not enforced, clients train on more than it gives them.
    allocation = read_parquet(snakemake.input.allocation, "allocation").set_index("client")["allocated_words"]
    weights = {f"words of {name}": str(int(allocation[name])) for name in names}
    kept = {name: {"endpoint": endpoints[name]} for name in names if name in cfg["keep_endpoints"]}
    write_pack(snakemake.output.upload, uploads, {"kind": "upload", **header, **weights})
    write_pack(snakemake.output.endpoints, kept, {"kind": "shared endpoints", **header})
    write_parquet(training_log(results, clients, "shared"), snakemake.output.training_log, "training_log")
