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
    output:
        scores=f"{RESULTS}/{{experiment}}/scores/{{family}}.parquet",
    log:
        f"{RESULTS}/logs/score/{{experiment}}-{{family}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score/{{experiment}}-{{family}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    params:
        cfg=lambda w: cfg(
            family=w.family,
            encoders=experiment_encoders(w.experiment),
            style_encoder=experiment_of(w)["style_encoder"],
            seeds=experiment_of(w)["seeds"],
        ),
        code=lambda w: code("score", f"favor.scores.{w.family}"),
    script:
        "../scripts/score.py"
