# Statistics: paired comparisons of methods, one file a table that prints them.


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
    output:
        comparisons=f"{RESULTS}/{{experiment}}/statistics/{{label}}.parquet",
    log:
        f"{RESULTS}/logs/compare_methods/{{experiment}}-{{label}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compare_methods/{{experiment}}-{{label}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
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
