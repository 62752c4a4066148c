"""Train the personal stage of the clients of one job; nothing of it is uploaded."""

from favor.corpora.schemas import CLIENT_TEXTS
from favor.encoders.schemas import SOURCE_EMBEDDINGS
from favor.federation.client_archive import Place, State, places_of, read_packs, write_pack
from favor.federation.gates import ClientGate
from favor.federation.local import cut_of, print_worse, run_stage, style_targets, training_log
from favor.federation.method import POOLED, PersonalStage
from favor.federation.schemas import TRAINING_LOG
from favor.federation.settings import PersonalTraining
from favor.federation.stages import carried_weight, compose, kept, personal_clients
from favor.foundation.parquet import read_parquet, read_row_groups, write_parquet
from favor.foundation.tensors import read_safetensors
from favor.lm.base import open_base
from favor.lm.lora import from_arrays
from favor.running.jobs.job import job

with job(snakemake, PersonalTraining) as settings:
    seed, phase = int(snakemake.wildcards.seed), snakemake.wildcards.phase
    stage, rounds = PersonalStage.of(settings.stage), settings.rounds
    names = list(rounds)
    if names == [POOLED]:  # the centralised reference: everybody's texts, handed over
        texts = read_parquet(snakemake.input.texts, CLIENT_TEXTS)
        texts = texts[~texts["client"].isin(settings.withdrawn)]
    else:
        texts = read_row_groups(snakemake.input.texts, CLIENT_TEXTS, "client", names)
    anchor: State | None = read_safetensors(snakemake.input.anchor[0])[0] if snakemake.input.anchor else None
    weights: dict[str, float] = {}
    starts: dict[str, State]
    places = places_of(snakemake.input.start, "endpoint") if stage.start == "endpoint" else {}
    if stage.start not in ("endpoint", "own"):
        starts = dict.fromkeys(names, read_safetensors(snakemake.input.start[0])[0])
        places = dict.fromkeys(names, Place(snakemake.input.start[0]))
    else:
        packs = read_packs(snakemake.input.start)
        # A client that carries its adapter over begins, at its first participation, with the server's adapter or A_0.
        first = read_safetensors(snakemake.input.first[0])[0] if snakemake.input.first else anchor
        own = {name: compose(packs[name]) for name in names if packs.get(name)}
        assert first is not None or len(own) == len(names)
        starts = {name: own.get(name, first or {}) for name in names}
        if stage.mixture is not None and stage.mixture.kind == "learned":
            weights = {name: carried_weight(packs[name]) for name in names if packs.get(name)}
    targets = {}
    if snakemake.input.style:
        vectors = read_row_groups(snakemake.input.style[0], SOURCE_EMBEDDINGS, "client", names)
        targets = style_targets(vectors, texts, names)

    base = open_base(settings.model, settings.lora)
    clients = personal_clients(rounds, starts, stage, anchor, targets, settings.participations, weights)
    what, cut = f"{snakemake.wildcards.method}, seed {seed}, {phase}", cut_of(snakemake.input.requests, names)
    results = run_stage(base, clients, texts, stage, settings, "personal", seed, what, cut=cut)

    if (validation := settings.training.validation) is not None:
        print_worse(results, validation.patience is not None)

    pack = {result.name: kept(result, starts[result.name], stage, anchor) for result in results}
    if stage.mixture is not None and stage.mixture.kind == "similarity":
        assert anchor is not None
        shared, lora = from_arrays(anchor), settings.lora
        for name in names:
            gate = ClientGate(base, lora, shared, texts, name, stage.mixture, settings, seed)
            pack[name] |= {"gate": gate.kept()}
    # What another file holds is named, not stored again.
    elsewhere: dict[str, dict[str, Place]] = {name: {} for name in names}
    for name, parts in pack.items():
        if "endpoint" in parts and name in places:
            del parts["endpoint"]
            elsewhere[name]["endpoint"] = places[name]
        if parts.pop("companion", None) is not None:
            elsewhere[name]["companion"] = Place(snakemake.input.anchor[0])
    header = {"kind": "personal adapters", "seed": str(seed), "round": str(max(rounds.values()))}
    # Clients that take part again start there from what they have now; it is then replaced.
    for path, again in ((snakemake.output.pack, False), (snakemake.output.passing, True)):
        chosen = [name for name in names if (name in settings.again) == again]
        write_pack(path, {name: pack[name] for name in chosen}, header, {name: elsewhere[name] for name in chosen})
    write_parquet(training_log(results, clients, "personal"), snakemake.output.training_log, TRAINING_LOG)
