# Frozen style encoders on human texts of another corpus's clients: nothing is trained on them.


rule embed_transfer:
    input:
        **project.corpus_files(studies.transfer_corpus, "documents", "splits", "roster"),
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
