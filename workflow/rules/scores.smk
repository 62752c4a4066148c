# Scores: cheap, from the Parquet files above, every run of an experiment at once, one file a metric family.


rule score:
    input:
        generations=generation_files,
        prompts=prompt_files,
        sources=lambda w: [
            f"{RESULTS}/{w.experiment}/clients/embeddings/{encoder}.parquet"
            for encoder in experiment_encoders(w.experiment)
        ],
        golds=lambda w: [
            f"{RESULTS}/{w.experiment}/embeddings/{encoder}.gold.parquet"
            for encoder in experiment_encoders(w.experiment)
        ],
        embeddings=lambda w: [
            f"{RESULTS}/{w.experiment}/embeddings/{encoder}.parquet"
            for encoder in experiment_encoders(w.experiment)
        ],
        utility=f"{RESULTS}/{{experiment}}/utility.parquet",
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        assistant=lambda w: assistant_scores(w.experiment),
    output:
        scores=f"{RESULTS}/{{experiment}}/scores/{{family}}.parquet",
    log:
        f"{RESULTS}/logs/score/{{experiment}}-{{family}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score/{{experiment}}-{{family}}.tsv"
    wildcard_constraints:
        family=r"(?!(?:efficiency|human_2afc|judges|transfer)\.)[a-z][a-z0-9_]*",
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("score"),
    params:
        cfg=lambda w: cfg(
            family=w.family,
            encoders=experiment_encoders(w.experiment),
            style_encoder=experiment_of(w)["style_encoder"],
            seeds=experiment_of(w)["seeds"],
            settings=family_settings(w),
            quality_limits=[
                experiment_of(w)["generation"][key]
                for key in ("minimum_words", "minimum_distinct_bigram_ratio")
            ],
        ),
        code=lambda w: code("score", f"favor.scores.{w.family}:score"),
    script:
        "../scripts/score.py"


# Scored from what was sent and logged, not from texts and embeddings.
rule score_efficiency:
    input:
        boundary=f"{RESULTS}/{{experiment}}/boundary.parquet",
        logs=training_logs,
        adapters=initial_adapters,
    output:
        scores=f"{RESULTS}/{{experiment}}/scores/efficiency.parquet",
    log:
        f"{RESULTS}/logs/score_efficiency/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_efficiency/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("score_efficiency"),
    params:
        cfg=lambda w: cfg(
            seeds=experiment_of(w)["seeds"], runs=efficiency_runs(w.experiment)
        ),
        code=code("score_efficiency"),
    script:
        "../scripts/score_efficiency.py"
