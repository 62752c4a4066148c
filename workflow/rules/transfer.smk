# Frozen style encoders on human texts of another corpus's clients: nothing is trained on them.


rule embed_transfer:
    input:
        documents=studies.transfer_documents,
        splits=studies.transfer_splits,
        roster=studies.transfer_roster,
        encoder=project.encoder_files,
    output:
        embeddings=paths.transfer_embeddings,
    log:
        paths.log("embed_transfer"),
    benchmark:
        paths.benchmark("embed_transfer")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("embed_transfer", costs.encoder_gpus, costs.transfer_work),
    params:
        cfg=studies.transfer_embedding_settings,
        code=lambda w: code("embed_transfer", project.encoder_code(w)),
    script:
        "../scripts/embed_transfer.py"


rule score_transfer:
    input:
        embeddings=studies.transfer_embeddings,
        manifests=studies.transfer_manifests,
    output:
        scores=paths.scores.where(family="transfer"),
    log:
        paths.log("score_transfer"),
    benchmark:
        paths.benchmark("score_transfer")
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("score_transfer"),
    params:
        cfg=studies.transfer_settings,
        code=code("score_transfer"),
    script:
        "../scripts/score_transfer.py"
