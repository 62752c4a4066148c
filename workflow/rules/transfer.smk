# Frozen style encoders on human texts of another corpus's clients: nothing is trained on them.


rule embed_transfer:
    input:
        documents=lambda w: paths.documents.of(w, corpus=studies.transfer_corpus(w)),
        splits=lambda w: paths.splits.of(w, corpus=studies.transfer_corpus(w)),
        roster=lambda w: paths.roster.of(w, corpus=studies.transfer_corpus(w)),
        encoder=project.encoder_files,
    output:
        embeddings=paths.transfer_embeddings,
    threads: threads.scoring
    script:
        "../scripts/embed_transfer.py"


rule score_transfer:
    input:
        embeddings=lambda w: paths.transfer_embeddings.each(w, encoder=studies.embedded(w)),
        manifests=lambda w: paths.encoder_manifest.each(w, encoder=studies.transferred(w)),
    output:
        scores=paths.scores.partial(family="transfer"),
    script:
        "../scripts/score_transfer.py"
