# Frozen style encoders on human texts of another corpus's clients: nothing is trained on them.


rule embed_transfer:
    input:
        documents=lambda w: transfer_file(w, "documents.parquet"),
        splits=lambda w: transfer_file(w, "splits.parquet"),
        roster=lambda w: transfer_file(w, "roster.parquet"),
        encoder=lambda w: encoder_files(w.encoder),
    output:
        embeddings=f"{RESULTS}/{{experiment}}/clients/transfer/{{encoder}}.parquet",
    log:
        f"{RESULTS}/logs/embed_transfer/{{experiment}}-{{encoder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/embed_transfer/{{experiment}}-{{encoder}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("embed_transfer", gpus, transfer_work),
    params:
        cfg=lambda w: cfg(
            encoder=encoder_settings(w.encoder),
            **pick(transfer_of(w), "texts", "seed"),
        ),
        code=lambda w: code("embed_transfer", encoder_module(w.encoder)),
    script:
        "../scripts/embed_transfer.py"


rule score_transfer:
    input:
        embeddings=transfer_embeddings,
        manifests=lambda w: [
            f"{RESULTS}/encoders/{encoder}/encoder.json"
            for encoder in transfer_encoders(w.experiment)
        ],
    output:
        scores=f"{RESULTS}/{{experiment}}/scores/transfer.parquet",
    log:
        f"{RESULTS}/logs/score_transfer/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_transfer/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("score_transfer"),
    params:
        cfg=lambda w: cfg(
            encoders=transfer_encoders(w.experiment),
            bootstrap=experiment_of(w)["evaluation"]["bootstrap"],
        ),
        code=code("score_transfer"),
    script:
        "../scripts/score_transfer.py"
