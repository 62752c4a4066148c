# The publication bundle, made when asked for: snakemake release.


rule release:
    input:
        public=public_files(),
        texts=private_files("clients/texts.parquet"),
        generations=all_generations(),
        authors=all_authors(),
        lock=str(ROOT / "requirements.lock"),
        project=project_files(),
    output:
        archive=f"{RESULTS}/release.tar.gz",
    log:
        f"{RESULTS}/logs/release.log",
    benchmark:
        f"{RESULTS}/benchmarks/release.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("release"),
    params:
        cfg=lambda w: cfg(
            results=RESULTS,
            configuration={
                key: value for key, value in CONFIG.items() if key != "release"
            },
            exempt=CONFIG["release"]["exempt"],
        ),
        code=code("release"),
    script:
        "../scripts/release.py"
