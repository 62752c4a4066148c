# Exports for other people's tools, made when asked for. They hold anonymous names only, but the released layout quotes outputs.


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


rule export_pan:
    input:
        generations=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/generations.parquet",
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
    params:
        cfg=lambda w: cfg(method=w.method, seed=int(w.seed)),
        code=code("export_pan"),
    script:
        "../scripts/export_pan.py"


def style_embeddings(place):
    """A file of the style encoder's embeddings under an experiment's folder."""
    return lambda w: f"{RESULTS}/{w.experiment}/{place}".format(
        experiment_of(w)["style_encoder"]
    )


rule export_release:
    input:
        generations=f"{RESULTS}/{{experiment}}/seed{{seed}}/{{method}}/generations.parquet",
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
    params:
        cfg=lambda w: cfg(**released_run(w)),
        code=code("export_release"),
    script:
        "../scripts/export_release.py"
