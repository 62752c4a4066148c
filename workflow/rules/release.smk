# The publication bundle, made when asked for: snakemake release.


rule release:
    input:
        public=publication.public_files,
        texts=publication.private_texts,
        generations=publication.private_generations,
        authors=publication.private_authors,
        lock=publication.lock_file(),
        project=publication.project_files(),
    output:
        archive=paths.release,
    params:
        code=code("release", *publication.release_code()),
    script:
        "../scripts/release.py"
