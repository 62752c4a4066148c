# What statistics, diagnostics and figures read: functions of the configuration alone.

# Tables behind the numbers of the paper's running text (favor.paper.numbers).
NUMBER_TABLES = (
    "main_federated_results",
    "phase1-main-external-verification",
    "phase1-main-results",
    "phase1-paired-significance",
    "asce-b-audit",
    "k100-scale-stress",
    "phase1-7b-base-sensitivity",
    "asce-leakage-free-gensource",
    "asce-leakage-free-pairwise",
    "phase1-external-agreement",
    "phase1-ablation-paired-tests",
    "phase1-ablation-external-paired",
    "efficiency_communication",
    "human_2afc_audit",
    "human-2afc-agreement",
    "qwen-generic-quality",
)


def comparison_files(name, label):
    """The paired tests behind a table, where it prints any."""
    return (
        [f"{RESULTS}/{name}/statistics/{label}.parquet"]
        if SPECS[label].comparisons
        else []
    )


def compared(name, label):
    """What a table compares, as far as the experiment has it: pairs of methods, encoders by metric, exact tests."""
    declared = SPECS[label].comparisons
    roles = table_context(name)["encoders"]
    rows = EXPERIMENTS[name]["methods"]
    present = experiment_encoders(name)
    metrics = {
        metric: [
            roles.get(role, role) for role in chosen if roles.get(role, role) in present
        ]
        for metric, chosen in declared.metrics.items()
    }
    return {
        "pairs": [list(pair) for pair in declared.pairs if set(pair) <= set(rows)],
        "metrics": metrics,
        "exact": list(declared.exact),
    }


def compared_encoders(name, label):
    """Encoders that a table's comparisons read."""
    used = {key for keys in compared(name, label)["metrics"].values() for key in keys}
    return sorted(used)


def style_sources(wildcards):
    """The clients' human texts in the style space."""
    return f"{RESULTS}/{wildcards.experiment}/clients/embeddings/{experiment_of(wildcards)['style_encoder']}.parquet"


def style_golds(wildcards):
    """Their continuations of the prompts in the style space."""
    return f"{RESULTS}/{wildcards.experiment}/embeddings/{experiment_of(wildcards)['style_encoder']}.gold.parquet"


def style_generations(wildcards):
    """Every output in the style space, whether it passed the filter or not."""
    return f"{RESULTS}/{wildcards.experiment}/embeddings/{experiment_of(wildcards)['style_encoder']}.parquet"


def residual_row(name):
    """The row whose private residuals are looked into: FAVoR, or another with a residual stage; None without any."""
    rows = [
        row
        for row in EXPERIMENTS[name]["methods"]
        if PLANS[name, row][1].personal is not None
        and PLANS[name, row][1].personal.residual
    ]
    return min(rows, key=lambda row: row != "favor", default=None)


def energy_packs(wildcards):
    """The personal packs of that row's first seed (the paper looks into one run)."""
    row = residual_row(wildcards.experiment)
    if row is None:
        return []
    seed = experiment_of(wildcards)["seeds"][0]
    home = home_of(wildcards.experiment, row)
    place = Namespace(experiment=home, seed=str(seed), method=row)
    plan = PLANS[home, row][1]
    clients = personal_clients(place, plan, "last")
    count = len(batches(clients, per_job(place)))
    return [personal_file(place, row, "last", batch) for batch in range(count)]


def last_rounds(name):
    """Round of every client's last participation, by method that federates and by seed."""
    return {
        row: {
            str(seed): last_participation(
                rounds_of(name, seed, PLANS[name, row][1].shared.sampling)
            )
            for seed in EXPERIMENTS[name]["seeds"]
        }
        for row in EXPERIMENTS[name]["methods"]
        if PLANS[name, row][1].shared is not None
    }


def logs_of(place, plan):
    """Training logs of a run: its shared track's, then its personal stage's."""
    logs = []
    if plan.shared is not None:
        rounds = rounds_of(place.experiment, place.seed, plan.shared.sampling)
        for number, cohort in enumerate(rounds):
            folder = f"{track_folder(place, plan.shared)}/clients/round{number}"
            for batch in range(len(batches(cohort, per_job(place)))):
                logs.append(f"{folder}/batch{batch}.log.parquet")
    if plan.personal is not None:
        for phase in personal_phases(place, plan):
            count = len(batches(personal_clients(place, plan, phase), per_job(place)))
            for batch in range(count):
                pack = personal_file(place, place.method, phase, batch)
                logs.append(pack.replace(".safetensors", ".log.parquet"))
    return logs


def training_logs(wildcards):
    """Training logs of every run of an experiment."""
    found = [logs_of(place, plan) for place, plan in places(wildcards.experiment)]
    return list(dict.fromkeys(log for logs in found for log in logs))


def training_benchmark(name, log):
    """Where Snakemake keeps the wall time of the job that wrote a training log."""
    parts = Path(log).relative_to(f"{RESULTS}/{name}").parts
    rule_name = "train_shared" if parts[1] == "shared" else "train_personal"
    place = [part for part in parts if part not in ("shared", "clients")]
    job = "-".join([name, *place]).removesuffix(".log.parquet")
    return f"{RESULTS}/benchmarks/{rule_name}/{job}.tsv"


def efficiency_runs(name):
    """What the efficiency scores look up for each run: training logs, and the wall times of the jobs behind them."""
    return [
        {
            "seed": int(place.seed),
            "method": place.method,
            "logs": logs_of(place, plan),
            "benchmarks": [
                training_benchmark(place.experiment, log)
                for log in logs_of(place, plan)
            ],
            "trains": plan.shared is not None or plan.personal is not None,
        }
        for place, plan in places(name)
    ]


def initial_adapters(wildcards):
    """Of every seed the adapter that a method starts from: what is trained has its shapes. None where nothing trains."""
    found = {}
    for place, plan in places(wildcards.experiment):
        if plan.shared is not None:
            found.setdefault(place.seed, server_file(place, plan.shared, 0))
        elif needs_shared(plan):
            found.setdefault(place.seed, frozen_file(place))
        elif plan.personal is not None:
            owner = owner_of(place.experiment, place.method)
            found.setdefault(place.seed, initial_file(place, owner))
    return list(found.values())


def number_sources():
    """What the numbers of the running text are taken from, by experiment."""
    sources = {}
    for name in shown_experiments():
        experiment = EXPERIMENTS[name]
        federation = experiment["federation"]
        total = federation["rounds"] * federation["clients_per_round"]
        sources[name] = {
            "tables": {
                label: f"{RESULTS}/{name}/tables/{label}.parquet"
                for label in experiment["tables"]
                if label in NUMBER_TABLES
            },
            "gates": [
                outputs_file(name, seed, row, "gates")
                for seed in experiment["seeds"]
                for row in ("feddpa", "feddpa_dynamic")
                if row in experiment["methods"]
            ],
            "allocation": f"{RESULTS}/{name}/clients/allocation.parquet",
            "effects": [f"{RESULTS}/{name}/diagnostics/coordinate_effects.parquet"]
            * experiment["figures"],
            "judges": [f"{RESULTS}/{name}/scores/judges.parquet"]
            * (experiment["studies"]["judges"] is not None),
            "participations": total / experiment["clients"],
            "encoders": {
                role: f"{RESULTS}/encoders/{encoder}/encoder.json"
                for role, encoder in (
                    ("style", experiment["style_encoder"]),
                    *independent_encoder(name).items(),
                )
                if CONFIG["encoders"][encoder]["training"] is not None
            },
            "paper_dataset": CONFIG["corpora"][experiment["corpus"]]["paper_dataset"]
            or "",
            # The paper's running text is about experiments with the main table; a study has the numbers of its own tables.
            "whole": "main_federated_results" in experiment["tables"],
        }
    return sources


def number_files():
    """The files behind the numbers of the running text."""
    return [
        file
        for source in number_sources().values()
        for file in (
            *source["tables"].values(),
            *source["gates"],
            *source["encoders"].values(),
            source["allocation"],
            *source["effects"],
            *source["judges"],
        )
    ]


def released_run(wildcards):
    """What the released layout says of a run beside its tables."""
    experiment = experiment_of(wildcards)
    _, plan, hyperparameters = PLANS[wildcards.experiment, wildcards.method]
    model = CONFIG["base_models"][experiment["base_model"]]
    stages = [stage for stage in (plan.shared, plan.personal) if stage is not None]
    return {
        "dataset": CONFIG["corpora"][experiment["corpus"]]["paper_dataset"] or "",
        "method": wildcards.method,
        "seed": int(wildcards.seed),
        "style_encoder": experiment["style_encoder"],
        "base_model": model["title"] or experiment["base_model"],
        "quantisation": model["quantisation"],
        "hyperparameters": hyperparameters,
        "settings": pick(
            experiment,
            *("protocol", "allocation", "prompts", "federation", "lora"),
            *("training", "alignment", "generation", "clients"),
        ),
        "private_residual": plan.personal is not None and plan.personal.residual,
        "asce_alignment": any(stage.objective.alignment > 0 for stage in stages),
    }


def style_embeddings(place):
    """A file of the style encoder's embeddings under an experiment's folder."""
    return lambda w: f"{RESULTS}/{w.experiment}/{place}".format(
        experiment_of(w)["style_encoder"]
    )


def family_settings(wildcards):
    """Settings of a metric family: the configuration's, and for utility the model behind its BERTScore."""
    evaluation = experiment_of(wildcards)["evaluation"]
    settings = evaluation["scores"].get(wildcards.family, {})
    if wildcards.family == "utility":
        return {
            "bertscore": pick(evaluation["bertscore"], "model", "layer"),
            **settings,
        }
    return settings
