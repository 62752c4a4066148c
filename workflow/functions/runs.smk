# Which clients train where, and from what: functions of the configuration alone, for the federation and generation rules.


def clients_of(name):
    """Names of an experiment's clients."""
    return client_names(EXPERIMENTS[name]["clients"], EXPERIMENTS[name]["skip_clients"])


def plan_of(wildcards):
    return PLANS[wildcards.experiment, wildcards.method][1]


@cache
def rounds_of(name, seed, sampling):
    """Cohorts of an experiment's rounds."""
    experiment = EXPERIMENTS[name]
    federation = experiment["federation"]
    return cohorts(
        int(seed),
        clients_of(name),
        federation["rounds"],
        federation["clients_per_round"],
        sampling,
    )


@cache
def last_rounds_of(name, seed, sampling):
    """Round of every client's last participation."""
    return last_participation(rounds_of(name, seed, sampling))


@cache
def positions_in(name, seed, sampling, round_number):
    """Position of every client in the cohort of a round."""
    cohort = rounds_of(name, seed, sampling)[round_number]
    return {client: position for position, client in enumerate(cohort)}


@once_for("experiment", "track")
def stage_of(wildcards):
    """The shared stage behind a track."""
    for (name, _), (_, plan, _) in PLANS.items():
        if (
            name == wildcards.experiment
            and plan.shared is not None
            and plan.shared.track == wildcards.track
        ):
            return plan.shared
    raise WorkflowError(
        f"no method of experiment '{wildcards.experiment}' has the shared track '{wildcards.track}'"
    )


def seed_folder(name, seed):
    return f"{RESULTS}/{name}/seed{seed}"


def track_folder(wildcards, stage):
    return f"{seed_folder(wildcards.experiment, wildcards.seed)}/shared/{stage.track}"


def schedule_file(wildcards, stage):
    return f"{seed_folder(wildcards.experiment, wildcards.seed)}/schedule/{stage.sampling}.parquet"


@cache
def owner_of(name, method):
    """The first row of an experiment with the same stages: it trains for all of them (FedDPA and its gate audit)."""
    plan = PLANS[name, method][1]
    return next(
        row
        for row in EXPERIMENTS[name]["methods"]
        if (PLANS[name, row][1].shared, PLANS[name, row][1].personal)
        == (plan.shared, plan.personal)
    )


def initial_file(wildcards, origin):
    """The adapter training starts from: one for all of a seed, or one for each track or local method."""
    common = experiment_of(wildcards)["federation"]["initial_adapter"] == "common"
    folder = f"{seed_folder(wildcards.experiment, wildcards.seed)}/server/{'common' if common else origin}"
    return f"{folder}/round0/adapter.safetensors"


def server_file(wildcards, stage, round_number):
    """The shared adapter at the start of a round."""
    if int(round_number) == 0:
        return initial_file(wildcards, stage.track)
    return f"{track_folder(wildcards, stage)}/server/round{round_number}/adapter.safetensors"


def frozen_file(wildcards):
    """The final shared adapter of another experiment, which a cold start begins with."""
    source = experiment_of(wildcards)["cold_start"]
    place = Namespace(
        experiment=source["shared_from"],
        seed=str(source["seed"]),
        method=source["row"],
    )
    plan = PLANS[place.experiment, place.method][1]
    if plan.shared is None:
        raise WorkflowError(
            f"config key 'experiments.{wildcards.experiment}.cold_start.row': "
            f"'{place.method}' trains no shared adapter; name a row that does"
        )
    return final_adapter(place, plan)


def given_adapter(wildcards, plan):
    """What the clients of a cold start are given: the frozen shared adapter, or the random one of its size."""
    if plan.personal is not None and plan.personal.start == "random":
        return f"{seed_folder(wildcards.experiment, wildcards.seed)}/server/random/adapter.safetensors"
    return frozen_file(wildcards)


def per_job(wildcards):
    return experiment_of(wildcards)["federation"]["clients_per_job"]


def kept_or_temporary(path):
    """An upload goes once it is aggregated, unless the configuration keeps it."""
    return path if CONFIG["keep_uploads"] else temp(path)


def upload_files(wildcards, stage, round_number):
    cohort = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)[
        int(round_number)
    ]
    count = len(batches(cohort, per_job(wildcards)))
    return [
        f"{track_folder(wildcards, stage)}/uploads/round{round_number}/batch{b}.safetensors"
        for b in range(count)
    ]


def endpoint_file(wildcards, stage, client, round_number):
    """The pack that holds a client's shared endpoint of a round."""
    positions = positions_in(
        wildcards.experiment, wildcards.seed, stage.sampling, int(round_number)
    )
    batch = positions[client] // per_job(wildcards)
    return f"{track_folder(wildcards, stage)}/clients/round{round_number}/batch{batch}.endpoints.safetensors"


@once_for("experiment", "seed")
def personal_clients(wildcards, plan, phase):
    """Clients of one phase of a personal stage, in the order that is cut into jobs."""
    everyone = clients_of(wildcards.experiment)
    if plan.personal.start == "pooled":
        return [POOLED]
    if plan.shared is None:
        return everyone
    rounds = rounds_of(wildcards.experiment, wildcards.seed, plan.shared.sampling)
    if plan.personal.chained:
        return rounds[int(phase.removeprefix("round"))]
    return sorted(last_participation(rounds))


def personal_file(wildcards, method, phase, batch):
    owner = owner_of(wildcards.experiment, method)
    folder = f"{seed_folder(wildcards.experiment, wildcards.seed)}/{owner}/clients"
    return f"{folder}/{phase}/batch{batch}.safetensors"


@once_for("experiment", "seed")
def personal_positions(wildcards, plan, phase):
    """Position of every client of a phase in the order that is cut into jobs."""
    clients = personal_clients(wildcards, plan, phase)
    return {client: position for position, client in enumerate(clients)}


def personal_pack_of(wildcards, method, plan, client, phase):
    batch = personal_positions(wildcards, plan, phase)[client] // per_job(wildcards)
    return personal_file(wildcards, method, phase, batch)


def home_of(name, method):
    """The experiment that makes a row's outputs: this one, or the one whose outputs it evaluates (outputs_of)."""
    archive = EXPERIMENTS[name]["outputs_of"]
    if archive is not None and method in EXPERIMENTS[archive]["methods"]:
        return archive
    return name


def outputs_file(name, seed, method, file="generations"):
    """A table of what a run of an experiment generated."""
    return f"{seed_folder(home_of(name, method), seed)}/{method}/{file}.parquet"


def runs_of(name):
    """(seed, method) of every run of an experiment."""
    experiment = EXPERIMENTS[name]
    return [
        (seed, method)
        for seed in experiment["seeds"]
        for method in experiment["methods"]
    ]


def personal_phases(wildcards, plan):
    """The phases of a personal stage: one a round where participations build on one another, else the last alone."""
    if not plan.personal.chained:
        return ["last"]
    return [
        f"round{number}"
        for number in range(experiment_of(wildcards)["federation"]["rounds"])
    ]


def stage_settings(wildcards, stage):
    """What both kinds of local stage read."""
    experiment = experiment_of(wildcards)
    return {
        "model": model_settings(experiment["base_model"]),
        **pick(experiment, "lora", "training"),
        "alignment": experiment["alignment"] if stage.objective.alignment else None,
        "prefix_tokens": experiment["prompts"]["prefix_tokens"],
        **pick(experiment["federation"], "clients_per_job", "engine"),
    }


def alignment_files(wildcards, stage):
    """The clients' own style embeddings, where the stage aligns with them."""
    if not stage.objective.alignment:
        return []
    experiment = experiment_of(wildcards)
    return [
        f"{RESULTS}/{wildcards.experiment}/clients/embeddings/{experiment['style_encoder']}.parquet"
    ]


@once_for("experiment", "track")
def ends_in_use(wildcards):
    """Whether a row with this track generates with its endpoints, or starts its personal stage there."""
    plans = [
        plan
        for (name, _), (_, plan, _) in PLANS.items()
        if name == wildcards.experiment
    ]
    return any(
        plan.inference == "endpoint"
        or (plan.personal is not None and plan.personal.start == "endpoint")
        for plan in plans
        if plan.shared is not None and plan.shared.track == wildcards.track
    )


def endpoints_needed(wildcards):
    """Clients whose shared endpoint of this round is kept: all, where their next participation starts there.

    Else those that never take part again, where a row generates with endpoints or starts its personal stage there.
    """
    stage = stage_of(wildcards)
    rounds = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)
    if stage.start == "own":
        return rounds[int(wildcards.round)]
    if not ends_in_use(wildcards):
        return []
    last = last_rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)
    return [
        client
        for client in rounds[int(wildcards.round)]
        if last[client] == int(wildcards.round)
    ]


def previous_endpoints(wildcards):
    """Packs with the last endpoints of a job's clients, where their shared stage starts from them."""
    stage = stage_of(wildcards)
    if stage.start != "own":
        return []
    rounds = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)
    now = int(wildcards.round)
    before = last_participation(rounds[:now])
    clients = batches(rounds[now], per_job(wildcards))[int(wildcards.batch)]
    return list(
        dict.fromkeys(
            endpoint_file(wildcards, stage, client, before[client])
            for client in clients
            if client in before
        )
    )


def participations(wildcards, stage, sampling, clients):
    """How often each of the clients takes part in all, where the passes of a stage are spread over it."""
    if not stage.spread:
        return {}
    rounds = rounds_of(wildcards.experiment, wildcards.seed, sampling)
    return {client: sum(client in cohort for cohort in rounds) for client in clients}


def shared_participations(wildcards):
    stage = stage_of(wildcards)
    rounds = rounds_of(wildcards.experiment, wildcards.seed, stage.sampling)
    return participations(
        wildcards, stage, stage.sampling, rounds[int(wildcards.round)]
    )


def personal_participations(wildcards):
    plan = plan_of(wildcards)
    sampling = plan.shared.sampling if plan.shared is not None else None
    return participations(wildcards, plan.personal, sampling, personal_batch(wildcards))


def personal_batch(wildcards):
    clients = personal_clients(wildcards, plan_of(wildcards), wildcards.phase)
    return batches(clients, per_job(wildcards))[int(wildcards.batch)]


def personal_start_files(wildcards):
    """The adapters a personal stage starts from: endpoints, the clients' own earlier packs, or the initial adapter."""
    plan = plan_of(wildcards)
    clients = personal_batch(wildcards)
    if needs_shared(plan):
        return [given_adapter(wildcards, plan)]
    if plan.personal.start in ("initial", "pooled"):
        return [
            initial_file(wildcards, owner_of(wildcards.experiment, wildcards.method))
        ]
    rounds = rounds_of(wildcards.experiment, wildcards.seed, plan.shared.sampling)
    if plan.personal.start == "endpoint":
        last = last_rounds_of(
            wildcards.experiment, wildcards.seed, plan.shared.sampling
        )
        return list(
            dict.fromkeys(
                endpoint_file(wildcards, plan.shared, client, last[client])
                for client in clients
            )
        )
    now = int(wildcards.phase.removeprefix("round"))
    before = last_participation(rounds[:now])
    packs = [
        personal_pack_of(
            wildcards, wildcards.method, plan, client, f"round{before[client]}"
        )
        for client in clients
        if client in before
    ]
    return list(dict.fromkeys(packs))


def personal_rounds(wildcards):
    """The round that a personal stage belongs to, by client: its last participation where each stage starts anew."""
    plan = plan_of(wildcards)
    clients = personal_batch(wildcards)
    if plan.personal.chained:
        return dict.fromkeys(clients, int(wildcards.phase.removeprefix("round")))
    if plan.personal.start == "endpoint":
        last = last_rounds_of(
            wildcards.experiment, wildcards.seed, plan.shared.sampling
        )
        return {client: last[client] for client in clients}
    return dict.fromkeys(clients, 0)


def anchor_files(wildcards):
    """The server's adapter at the start of the round, for stages that carry over and for their proximal term."""
    plan = plan_of(wildcards)
    if not plan.personal.chained:
        return []
    return [server_file(wildcards, plan.shared, wildcards.phase.removeprefix("round"))]


@once_for("experiment", "seed", "method")
def adapter_files(wildcards):
    """Packs and shared adapters that the clients of a run generate with."""
    plan = plan_of(wildcards)
    home = home_of(wildcards.experiment, wildcards.method)
    wildcards = Namespace(experiment=home, seed=wildcards.seed, method=wildcards.method)
    everyone = clients_of(home)
    if plan.inference in ("base", "prompted"):
        return []
    if plan.inference == "given":
        return [given_adapter(wildcards, plan)]
    files = []
    if plan.shared is not None:
        files.append(
            server_file(
                wildcards, plan.shared, experiment_of(wildcards)["federation"]["rounds"]
            )
        )
    if plan.inference == "server":
        return files
    if plan.inference == "personal" and plan.personal.start == "pooled":
        return [personal_file(wildcards, wildcards.method, "last", 0)]
    if plan.shared is None:
        last = dict.fromkeys(everyone, None)
    else:
        last = last_participation(
            rounds_of(wildcards.experiment, wildcards.seed, plan.shared.sampling)
        )
    for client, round_number in sorted(last.items()):
        if plan.inference == "endpoint":
            files.append(endpoint_file(wildcards, plan.shared, client, round_number))
        else:
            phase = f"round{round_number}" if plan.personal.chained else "last"
            files.append(
                personal_pack_of(wildcards, wildcards.method, plan, client, phase)
            )
    return list(dict.fromkeys(files))


def generation_plan(wildcards):
    """What generation needs to know of a method beside its adapters."""
    plan = plan_of(wildcards)
    personal = plan_values(plan)["personal"]
    return {
        "inference": plan.inference,
        "gating": plan.gating,
        "never_sampled": plan.never_sampled,
        "mixture": personal["mixture"] if personal else None,
    }


def places(name):
    """(wildcards of the job that makes it, plan) of every run of an experiment."""
    return [
        (
            Namespace(experiment=home_of(name, method), seed=str(seed), method=method),
            PLANS[name, method][1],
        )
        for seed, method in runs_of(name)
    ]


def generation_files(wildcards):
    return [
        outputs_file(wildcards.experiment, seed, method)
        for seed, method in runs_of(wildcards.experiment)
    ]


def prompt_files(wildcards):
    return [
        f"{seed_folder(wildcards.experiment, seed)}/prompts.parquet"
        for seed in experiment_of(wildcards)["seeds"]
    ]


def semantic_encoder(wildcards):
    return experiment_of(wildcards)["evaluation"]["semantic_encoder"]
