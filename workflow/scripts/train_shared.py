"""Train the shared stage of one round for the clients of one job; write what they upload and what they keep."""

from favor.corpora.schemas import ALLOCATION, CLIENT_TEXTS
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.federation.canaries import planted
from favor.federation.client_archive import read_packs, write_pack
from favor.federation.fedex_residual import split
from favor.federation.local import cut_of, run_stage, style_targets, training_log
from favor.federation.method import SharedStage
from favor.federation.schedule import batches
from favor.federation.schemas import SCHEDULE, TRAINING_LOG
from favor.federation.settings import SharedTraining
from favor.federation.stages import ended, shared_clients, upload
from favor.federation.uploads import rounded
from favor.foundation.parquet import read_parquet, read_row_groups, write_parquet
from favor.foundation.tensors import read_safetensors
from favor.lm.base import add_frozen, open_base
from favor.lm.lora import from_arrays
from favor.running.jobs.job import job

with job(snakemake, SharedTraining) as settings:
    seed, round_number = int(snakemake.wildcards.seed), int(snakemake.wildcards.round)
    stage = SharedStage.of(settings.stage)
    schedule = read_parquet(snakemake.input.schedule, SCHEDULE)
    cohort = list(schedule.loc[schedule["round"] == round_number, "client"])
    drawn = batches(cohort, settings.clients_per_job)[int(snakemake.wildcards.batch)]
    names = [name for name in drawn if name not in settings.withdrawn]
    texts = read_row_groups(snakemake.input.texts, CLIENT_TEXTS, "client", names)
    received, about = read_safetensors(snakemake.input.adapter)
    shared, frozen = split(received)
    first = read_safetensors(snakemake.input.first[0])[0] if snakemake.input.first else None
    targets = {}
    if snakemake.input.style:
        vectors = read_row_groups(snakemake.input.style[0], SOURCE_EMBEDDINGS, "client", names)
        targets = style_targets(vectors, texts, names)
    if settings.canaries is not None:
        texts = planted(texts, settings.canaries, seed)

    base = open_base(settings.model, settings.lora)
    add_frozen(base, from_arrays(frozen), settings.lora)
    clients = shared_clients(
        names,
        round_number,
        shared,
        stage,
        read_packs(snakemake.input.previous),
        targets,
        settings.participations,
        first=first,
        members=int(about.get("members", 0)),
    )
    what = f"{snakemake.wildcards.track}, seed {seed}, round {round_number}"
    cut = cut_of(snakemake.input.requests, names)
    results = run_stage(base, clients, texts, stage, settings, "shared", seed, what, cut=cut)

    header = {"seed": str(seed), "round": str(round_number), "track": snakemake.wildcards.track}
    uploads, kept = {}, {}
    for client, result in zip(clients, results, strict=True):
        given = upload(result, shared, stage, client.state)
        sent = rounded(given, stage.upload_bits, seed, round_number, result.name)
        uploads[result.name] = {stage.content: sent}
        if result.name in settings.keep_endpoints:
            kept[result.name] = ended(result, client.state)
    weights = {}
    if stage.weighting == "words":
        # The allocation, not the texts: where it is not enforced, clients train on more than it gives them.
        allocation = read_parquet(snakemake.input.allocation, ALLOCATION).set_index("client")["allocated_words"]
        weights = {f"words of {name}": str(int(allocation[name])) for name in names}
    write_pack(snakemake.output.upload, uploads, {"kind": "upload", **header, **weights})
    write_pack(snakemake.output.endpoints, kept, {"kind": "shared endpoints", **header})
    write_parquet(training_log(results, clients, "shared"), snakemake.output.training_log, TRAINING_LOG)
