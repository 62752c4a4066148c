# Held-out continuations of every run, and the work done once per text: embeddings and utility.


rule generate:
    input:
        adapters=adapter_files,
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        generations=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/generations.parquet",
        gates=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/gates.parquet",
    log:
        f"{RESULTS}/logs/generate/{{experiment}}-seed{{seed}}-{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/generate/{{experiment}}-seed{{seed}}-{{method}}.tsv"
    wildcard_constraints:
        method=rf"(?!shared/)(?!(?:{prompted_names()})/)[a-z][a-z0-9_]*",
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["generation"]
    resources:
        **asks("generate", gpus, generation_work, base_model_of),
    params:
        cfg=lambda w: cfg(
            model=model_settings(experiment_of(w)["base_model"]),
            **generation_plan(w),
            **pick(experiment_of(w), "lora", "generation"),
        ),
        code=code("generate"),
    script:
        "../scripts/generate.py"


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
    resources:
        **asks("embed_generations", gpus, continuation_work),
    params:
        cfg=lambda w: cfg(encoder=encoder_settings(w.encoder)),
        code=lambda w: code("embed_generations", encoder_module(w.encoder)),
    script:
        "../scripts/embed_generations.py"


rule measure_assistant:
    input:
        generations=generation_files,
        prompts=prompt_files,
        classifier=lambda w: assistant_files(
            experiment_of(w)["evaluation"]["assistant"]
        )[1:],
        weights=lambda w: assistant_files(experiment_of(w)["evaluation"]["assistant"])[
            0
        ],
    output:
        assistant=f"{RESULTS}/{{experiment}}/assistant.parquet",
    log:
        f"{RESULTS}/logs/measure_assistant/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_assistant/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("measure_assistant", encoder_gpus, continuation_work),
    params:
        cfg=lambda w: cfg(seeds=experiment_of(w)["seeds"]),
        code=code("measure_assistant"),
    script:
        "../scripts/measure_assistant.py"


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
    resources:
        **asks("measure_utility", encoder_gpus, continuation_work),
    params:
        cfg=lambda w: cfg(
            bertscore=experiment_of(w)["evaluation"]["bertscore"],
            seeds=experiment_of(w)["seeds"],
        ),
        code=code("measure_utility"),
    script:
        "../scripts/measure_utility.py"
