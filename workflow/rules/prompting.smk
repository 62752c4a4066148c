# Continuations without training: the base model with a longer prompt. Sheets, personas and requests quote clients' texts, so
# they stand under clients/.


rule distil_sheets:
    input:
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        model=lambda w: model_files(sheet_model(w.experiment)),
    output:
        sheets=f"{RESULTS}/{{experiment}}/clients/sheets.parquet",
    log:
        f"{RESULTS}/logs/distil_sheets/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/distil_sheets/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["generation"]
    resources:
        **asks("distil_sheets", sheet_gpus, sheet_work, sheet_model_of),
    params:
        cfg=lambda w: cfg(
            model=asked_model_settings(sheet_model(w.experiment)),
            lengths=sheet_lengths(w),
            **pick(
                experiment_of(w)["generation"], "repetition_penalty", "rows_per_batch"
            ),
        ),
        code=code("distil_sheets"),
    script:
        "../scripts/distil_sheets.py"


rule generate_prompted:
    input:
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        sheets=sheets_read,
        model=lambda w: model_files(experiment_of(w)["base_model"]),
    output:
        generations=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/generations.parquet",
        gates=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/gates.parquet",
        requests=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/clients/requests.parquet",
    log:
        f"{RESULTS}/logs/generate_prompted/{{experiment}}-seed{{seed}}-{{method}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/generate_prompted/{{experiment}}-seed{{seed}}-{{method}}.tsv"
    wildcard_constraints:
        method=prompted_names(),
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["generation"]
    resources:
        **asks("generate_prompted", gpus, prompted_work, base_model_of),
    params:
        cfg=lambda w: cfg(
            model=asked_model_settings(experiment_of(w)["base_model"]),
            prompting=plan_values(plan_of(w))["prompting"],
            lengths=pick(experiment_of(w)["prompting"], "passages", "passage_tokens"),
            generation=experiment_of(w)["generation"],
        ),
        code=code("generate_prompted"),
    script:
        "../scripts/generate_prompted.py"
