# Held-out continuations of every run, and the work done once per text: embeddings and utility.


def adapter_files(wildcards):
    """Packs and shared adapters that the clients of a run generate with."""
    plan = plan_of(wildcards)
    everyone = client_names(experiment_of(wildcards)["clients"])
    if plan.inference == "base":
        return []
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


rule generate:
    input:
        adapters=adapter_files,
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        generations=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/generations.parquet",
    log:
        f"{RESULTS}/logs/generate/{{experiment}}-seed{{seed}}-{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/generate/{{experiment}}-seed{{seed}}-{{method}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["generation"]
    params:
        cfg=lambda w: cfg(
            model=model_settings(experiment_of(w)["base_model"]),
            inference=plan_of(w).inference,
            **pick(experiment_of(w), "lora", "generation"),
        ),
        code=code("generate"),
    script:
        "../scripts/generate.py"


def generation_files(wildcards):
    return [
        f"{seed_folder(wildcards.experiment, seed)}/{method}/generations.parquet"
        for seed, method in runs_of(wildcards.experiment)
    ]


def prompt_files(wildcards):
    return [
        f"{seed_folder(wildcards.experiment, seed)}/prompts.parquet"
        for seed in experiment_of(wildcards)["seeds"]
    ]


rule embed_generations:
    input:
        generations=generation_files,
        prompts=prompt_files,
        encoder=lambda w: encoder_files(w.encoder),
    output:
        embeddings=f"{RESULTS}/{{experiment}}/embeddings/{{encoder}}.parquet",
        golds=f"{RESULTS}/{{experiment}}/embeddings/{{encoder}}.gold.parquet",
    log:
        f"{RESULTS}/logs/embed_generations/{{experiment}}-{{encoder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/embed_generations/{{experiment}}-{{encoder}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    params:
        cfg=lambda w: cfg(encoder=encoder_settings(w.encoder)),
        code=lambda w: code("embed_generations", encoder_module(w.encoder)),
    script:
        "../scripts/embed_generations.py"


def semantic_encoder(wildcards):
    return experiment_of(wildcards)["evaluation"]["semantic_encoder"]


rule measure_utility:
    input:
        generations=generation_files,
        prompts=prompt_files,
        embeddings=lambda w: f"{RESULTS}/{w.experiment}/embeddings/{semantic_encoder(w)}.parquet",
        golds=lambda w: f"{RESULTS}/{w.experiment}/embeddings/{semantic_encoder(w)}.gold.parquet",
    output:
        utility=f"{RESULTS}/{{experiment}}/utility.parquet",
    log:
        f"{RESULTS}/logs/measure_utility/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_utility/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    params:
        cfg=lambda w: cfg(
            bertscore=experiment_of(w)["evaluation"]["bertscore"],
            seeds=experiment_of(w)["seeds"],
        ),
        code=code("measure_utility"),
    script:
        "../scripts/measure_utility.py"
