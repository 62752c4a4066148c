# Frozen style encoders on human texts of another corpus's clients: nothing is trained on them.


rule embed_transfer:
    input:
        documents=paths.documents.at(corpus=studies.transfer_corpus),
        splits=paths.splits.at(corpus=studies.transfer_corpus),
        roster=paths.roster.at(corpus=studies.transfer_corpus),
        encoder=project.encoder_files,
    output:
        embeddings=paths.transfer_embeddings,
    threads: threads.scoring
    resources:
        **asks("embed_transfer", gpu=costs.encoder_gpus),
    params:
        cfg=studies.transfer_embedding_settings,
        code=lambda w: code("embed_transfer", project.encoder_code(w)),
    script:
        "../scripts/embed_transfer.py"


rule score_transfer:
    input:
        embeddings=paths.transfer_embeddings.each(encoder=studies.embedded),
        manifests=paths.encoder_manifest.each(encoder=studies.transferred),
    output:
        scores=paths.scores.where(family="transfer"),
    params:
        cfg=studies.transfer_settings,
    script:
        "../scripts/score_transfer.py"
