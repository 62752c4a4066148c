# Statistics: paired comparisons of methods, one file a table that prints them; diagnostics that figures show.


rule compare_methods:
    input:
        generations=generation_files,
        prompts=prompt_files,
        sources=lambda w: [
            f"{RESULTS}/{w.experiment}/clients/embeddings/{encoder}.parquet"
            for encoder in compared_encoders(w.experiment, w.label)
        ],
        golds=lambda w: [
            f"{RESULTS}/{w.experiment}/embeddings/{encoder}.gold.parquet"
            for encoder in compared_encoders(w.experiment, w.label)
        ],
        embeddings=lambda w: [
            f"{RESULTS}/{w.experiment}/embeddings/{encoder}.parquet"
            for encoder in compared_encoders(w.experiment, w.label)
        ],
        utility=f"{RESULTS}/{{experiment}}/utility.parquet",
        assistant=lambda w: assistant_scores(w.experiment),
    output:
        comparisons=f"{RESULTS}/{{experiment}}/statistics/{{label}}.parquet",
    log:
        f"{RESULTS}/logs/compare_methods/{{experiment}}-{{label}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compare_methods/{{experiment}}-{{label}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("compare_methods"),
    params:
        cfg=lambda w: cfg(
            encoders=compared_encoders(w.experiment, w.label),
            seeds=experiment_of(w)["seeds"],
            bootstrap=experiment_of(w)["evaluation"]["bootstrap"],
            **compared(w.experiment, w.label),
        ),
        code=code("compare_methods"),
    script:
        "../scripts/compare_methods.py"


rule measure_allocation:
    input:
        packs=energy_packs,
    output:
        energy=f"{RESULTS}/{{experiment}}/diagnostics/adapter_energy.parquet",
    log:
        f"{RESULTS}/logs/measure_allocation/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_allocation/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("measure_allocation"),
    params:
        code=code("measure_allocation"),
    script:
        "../scripts/measure_allocation.py"


rule measure_coordinates:
    input:
        sources=style_sources,
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
    output:
        effects=f"{RESULTS}/{{experiment}}/diagnostics/coordinate_effects.parquet",
    log:
        f"{RESULTS}/logs/measure_coordinates/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_coordinates/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("measure_coordinates"),
    params:
        code=code("measure_coordinates"),
    script:
        "../scripts/measure_coordinates.py"


rule measure_participation:
    input:
        generations=generation_files,
        prompts=prompt_files,
        sources=style_sources,
        golds=style_golds,
        embeddings=style_generations,
    output:
        participation=f"{RESULTS}/{{experiment}}/diagnostics/participation.parquet",
    log:
        f"{RESULTS}/logs/measure_participation/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_participation/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("measure_participation"),
    params:
        cfg=lambda w: cfg(
            encoder=experiment_of(w)["style_encoder"],
            seeds=experiment_of(w)["seeds"],
            last_rounds=last_rounds(w.experiment),
        ),
        code=code("measure_participation"),
    script:
        "../scripts/measure_participation.py"
