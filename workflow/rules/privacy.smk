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
        unpack(privacy.inputs),
        texts=project.texts,
        documents=paths.documents.at(corpus=project.corpus),
        splits=paths.splits.at(corpus=project.corpus),
        roster=paths.roster.at(corpus=project.corpus),
        near_duplicates=lambda w: project.near_duplicates(project.corpus(w)),
        model=project.base_files,
    output:
        losses=paths.privacy.where(reading="losses"),
        links=paths.privacy.where(reading="links"),
        canaries=paths.privacy.where(reading="canaries"),
        canary_clients=paths.privacy.where(reading="canary_clients"),
        norms=paths.privacy.where(reading="norms"),
    threads: threads.generation
    resources:
        **asks("measure_privacy", model=costs.base_model),
    params:
        cfg=privacy.settings,
    script:
        "../scripts/measure_privacy.py"


rule score_privacy:
    input:
        readings=privacy.readings,
        style=evaluation.style_sources,
    output:
        scores=paths.scores.where(family="privacy"),
    params:
        cfg=privacy.score_settings,
    script:
        "../scripts/score_privacy.py"
