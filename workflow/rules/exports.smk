# Exports for other people's tools, made when asked for. They hold anonymous names only, but the released layout quotes outputs.


rule export_pan:
    input:
        generations=lambda w: outputs_file(w.experiment, w.seed, w.method),
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
        embeddings=f"{RESULTS}/{{experiment}}/embeddings/{{encoder}}.parquet",
        golds=f"{RESULTS}/{{experiment}}/embeddings/{{encoder}}.gold.parquet",
        sources=f"{RESULTS}/{{experiment}}/clients/embeddings/{{encoder}}.parquet",
    output:
        truth=f"{RESULTS}/{{experiment}}/exports/pan/{{encoder}}/{{method}}-seed{{seed}}/truth.jsonl",
        answers=f"{RESULTS}/{{experiment}}/exports/pan/{{encoder}}/{{method}}-seed{{seed}}/answers.jsonl",
        measures=f"{RESULTS}/{{experiment}}/exports/pan/{{encoder}}/{{method}}-seed{{seed}}/measures.json",
    log:
        f"{RESULTS}/logs/export_pan/{{experiment}}-{{encoder}}-{{method}}-seed{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/export_pan/{{experiment}}-{{encoder}}-{{method}}-seed{{seed}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("export_pan"),
    params:
        cfg=lambda w: cfg(method=w.method, seed=int(w.seed)),
        code=code("export_pan"),
    script:
        "../scripts/export_pan.py"


rule export_release:
    input:
        generations=lambda w: outputs_file(w.experiment, w.seed, w.method),
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
        embeddings=style_embeddings("embeddings/{}.parquet"),
        golds=style_embeddings("embeddings/{}.gold.parquet"),
        sources=style_embeddings("clients/embeddings/{}.parquet"),
        utility=f"{RESULTS}/{{experiment}}/utility.parquet",
        scores=expand(
            f"{RESULTS}/{{{{experiment}}}}/scores/{{family}}.parquet",
            family=("prototypes", "verification", "utility", "quality"),
        ),
    output:
        **{
            name: f"{RESULTS}/{{experiment}}/exports/release/{{method}}-seed{{seed}}/{file}"
            for name, file in {
                "generations": "generations.jsonl",
                "examples": "per_example_metrics.jsonl",
                "summary": "summary_metrics.csv",
                "budget": "training_budget.csv",
                "quality": "quality_filter_report.json",
                "config": "method_config_resolved.yaml",
                "seeds": "seed_manifest.json",
            }.items()
        },
    log:
        f"{RESULTS}/logs/export_release/{{experiment}}-{{method}}-seed{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/export_release/{{experiment}}-{{method}}-seed{{seed}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("export_release"),
    params:
        cfg=lambda w: cfg(**released_run(w)),
        code=code("export_release"),
    script:
        "../scripts/export_release.py"
