# The publication bundle, made when asked for: snakemake release.


rule release:
    input:
        public=publication.public_files,
        texts=lambda w: paths.texts.each(experiment=planner.config.experiments),
        generations=publication.private_generations,
        authors=lambda w: paths.authors.each(corpus=planner.config.corpora),
        lock=str(ROOT / "requirements.lock"),
        project=publication.project_files(),
    output:
        archive=paths.release,
    script:
        "../scripts/release.py"
