# The privacy audit: an evaluator reads uploads and adapters, after and outside every server rule. The track in which secrets are
# planted is trained and aggregated by the rules of federation.smk.


# Uploads go once they are aggregated; the audit's copies stay, so that a changed audit trains nothing again.
rule keep_upload:
    input:
        upload=paths.upload,
    output:
        kept=paths.audited_upload,
    script:
        "../scripts/keep_upload.py"


rule measure_privacy:
    input:
        unpack(privacy.measure_privacy_inputs),
        **project.corpus_files(project.corpus, "documents", "splits", "roster"),
        texts=project.texts,
        near_duplicates=lambda w: project.near_duplicates(project.corpus(w)),
        model=project.base_files,
    output:
        losses=paths.privacy.partial(reading="losses"),
        links=paths.privacy.partial(reading="links"),
        canaries=paths.privacy.partial(reading="canaries"),
        canary_clients=paths.privacy.partial(reading="canary_clients"),
        norms=paths.privacy.partial(reading="norms"),
    threads: threads.generation
    script:
        "../scripts/measure_privacy.py"


rule score_privacy:
    input:
        readings=privacy.readings,
        style=evaluation.style_sources,
    output:
        scores=paths.scores.partial(family="privacy"),
    script:
        "../scripts/score_privacy.py"
