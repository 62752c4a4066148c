# Rounds of federated training. The data-locality boundary can be read off the paths: what is under clients/ stays with
# the clients, and no server rule (initialise_server, aggregate) takes it as input.


rule make_schedule:
    output:
        schedule=f"{RESULTS}/{{experiment}}/seed{{seed}}/schedule/{{sampling}}.parquet",
    log:
        f"{RESULTS}/logs/make_schedule/{{experiment}}-seed{{seed}}-{{sampling}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_schedule/{{experiment}}-seed{{seed}}-{{sampling}}.tsv"
    wildcard_constraints:
        sampling="coverage_first|uniform",
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("make_schedule"),
    params:
        cfg=lambda w: cfg(
            **pick(experiment_of(w), "clients", "skip_clients"),
            **pick(experiment_of(w)["federation"], "rounds", "clients_per_round"),
        ),
        code=code("make_schedule"),
    script:
        "../scripts/make_schedule.py"


rule initialise_server:
    input:
        lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        adapter=f"{RESULTS}/{{experiment}}/seed{{seed}}/server/{{origin}}/round0/adapter.safetensors",
    log:
        f"{RESULTS}/logs/initialise_server/{{experiment}}-seed{{seed}}-{{origin}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/initialise_server/{{experiment}}-seed{{seed}}-{{origin}}.tsv"
    wildcard_constraints:
        origin=r"[a-z0-9_-]+",
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("initialise_server"),
    params:
        cfg=lambda w: cfg(
            model=model_settings(experiment_of(w)["base_model"]),
            lora=experiment_of(w)["lora"],
        ),
        code=code("initialise_server"),
    script:
        "../scripts/initialise_server.py"


# The control of a cold start: a shared adapter that has learned nothing, as large as the one that has.
rule draw_random_adapter:
    input:
        adapter=frozen_file,
    output:
        adapter=f"{RESULTS}/{{experiment}}/seed{{seed}}/server/random/adapter.safetensors",
    log:
        f"{RESULTS}/logs/draw_random_adapter/{{experiment}}-seed{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_random_adapter/{{experiment}}-seed{{seed}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("draw_random_adapter"),
    params:
        code=code("draw_random_adapter"),
    script:
        "../scripts/draw_random_adapter.py"


rule train_shared:
    input:
        adapter=lambda w: server_file(w, stage_of(w), w.round),
        schedule=lambda w: schedule_file(w, stage_of(w)),
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        allocation=f"{RESULTS}/{{experiment}}/clients/allocation.parquet",
        style=lambda w: alignment_files(w, stage_of(w)),
        previous=previous_endpoints,
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        upload=kept_or_temporary(
            f"{RESULTS}/{{experiment}}/seed{{seed}}/shared/{{track}}/uploads/round{{round}}/batch{{batch}}.safetensors"
        ),
        endpoints=f"{RESULTS}/{{experiment}}/seed{{seed}}/shared/{{track}}/clients/round{{round}}/batch{{batch}}.endpoints.safetensors",
        training_log=f"{RESULTS}/{{experiment}}/seed{{seed}}/shared/{{track}}/clients/round{{round}}/batch{{batch}}.log.parquet",
    log:
        f"{RESULTS}/logs/train_shared/{{experiment}}-seed{{seed}}-{{track}}-round{{round}}-batch{{batch}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_shared/{{experiment}}-seed{{seed}}-{{track}}-round{{round}}-batch{{batch}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["training"]
    resources:
        **asks("train_shared", gpus, shared_work, base_model_of),
    params:
        cfg=lambda w: cfg(
            **stage_settings(w, stage_of(w)),
            stage=plan_values(stage_of(w)),
            keep_endpoints=endpoints_needed(w),
            participations=shared_participations(w),
        ),
        code=code("train_shared"),
    script:
        "../scripts/train_shared.py"


rule aggregate:
    input:
        adapter=lambda w: server_file(w, stage_of(w), int(w.next_round) - 1),
        uploads=lambda w: upload_files(w, stage_of(w), int(w.next_round) - 1),
    output:
        adapter=f"{RESULTS}/{{experiment}}/seed{{seed}}/shared/{{track}}/server/round{{next_round}}/adapter.safetensors",
        traffic=f"{RESULTS}/{{experiment}}/seed{{seed}}/shared/{{track}}/server/round{{next_round}}/traffic.parquet",
    log:
        f"{RESULTS}/logs/aggregate/{{experiment}}-seed{{seed}}-{{track}}-round{{next_round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate/{{experiment}}-seed{{seed}}-{{track}}-round{{next_round}}.tsv"
    wildcard_constraints:
        next_round=r"[1-9]\d*",
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("aggregate", work=adapter_work),
    params:
        cfg=lambda w: cfg(
            server_learning_rate=experiment_of(w)["federation"][
                "server_learning_rate"
            ],
            weighting=stage_of(w).weighting,
            results=RESULTS,
        ),
        code=code("aggregate"),
    script:
        "../scripts/aggregate.py"


rule train_personal:
    input:
        start=personal_start_files,
        anchor=anchor_files,
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        style=lambda w: alignment_files(w, plan_of(w).personal),
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        pack=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/clients/{{phase}}/batch{{batch}}.safetensors",
        training_log=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/clients/{{phase}}/batch{{batch}}.log.parquet",
    log:
        f"{RESULTS}/logs/train_personal/{{experiment}}-seed{{seed}}-{{method}}-{{phase}}-batch{{batch}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_personal/{{experiment}}-seed{{seed}}-{{method}}-{{phase}}-batch{{batch}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["training"]
    resources:
        **asks("train_personal", gpus, personal_work, base_model_of),
    params:
        cfg=lambda w: cfg(
            **stage_settings(w, plan_of(w).personal),
            stage=plan_values(plan_of(w).personal),
            rounds=personal_rounds(w),
            participations=personal_participations(w),
        ),
        code=code("train_personal"),
    script:
        "../scripts/train_personal.py"


rule record_boundary:
    input:
        traffic=traffic_files,
        packs=kept_packs,
        final=final_adapters,
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
    output:
        boundary=f"{RESULTS}/{{experiment}}/boundary.parquet",
    log:
        f"{RESULTS}/logs/record_boundary/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/record_boundary/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("record_boundary"),
    params:
        cfg=lambda w: cfg(results=RESULTS, runs=boundary_runs(w)),
        code=code("record_boundary"),
    script:
        "../scripts/record_boundary.py"


rule record_settings:
    output:
        settings=f"{RESULTS}/{{experiment}}/settings.json",
    log:
        f"{RESULTS}/logs/record_settings/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/record_settings/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("record_settings"),
    params:
        cfg=lambda w: cfg(**resolved_settings(w.experiment)),
        code=code("record_settings"),
    script:
        "../scripts/record_settings.py"


rule export_adapters:
    input:
        adapters=adapter_files,
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        folder=directory(
            f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/clients/peft"
        ),
    log:
        f"{RESULTS}/logs/export_adapters/{{experiment}}-seed{{seed}}-{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/export_adapters/{{experiment}}-seed{{seed}}-{{method}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("export_adapters", work=adapter_work),
    params:
        cfg=lambda w: cfg(
            base=plain_folder(experiment_of(w)["base_model"]),
            lora=experiment_of(w)["lora"],
            clients=clients_of(w.experiment),
            **generation_plan(w),
        ),
        code=code("export_adapters"),
    script:
        "../scripts/export_adapters.py"
