# Base models and style encoders that are trained here, and the embeddings of the clients' own texts.


rule train_tokenizer:
    input:
        **project.corpus_files(project.pretraining_corpus, "documents"),
        background=lambda w: project.background(project.pretraining_corpus(w)),
    output:
        tokenizer=paths.tokenizer,
        settings=paths.tokenizer_settings,
    wildcard_constraints:
        model=project.models_with("pretrain"),
    script:
        "../scripts/train_tokenizer.py"


rule pretrain_base:
    input:
        **project.corpus_files(project.pretraining_corpus, "documents"),
        background=lambda w: project.background(project.pretraining_corpus(w)),
        tokenizer=paths.tokenizer,
    output:
        **paths.weights(paths.base_folder),
    log:
        paths.log("pretrain_base", paths.tokenizer),
        losses=paths.pretraining_losses,
    wildcard_constraints:
        model=project.models_with("pretrain"),
    threads: threads.pretraining
    script:
        "../scripts/pretrain_base.py"


rule read_tokenizer:
    input:
        gguf=project.gguf_file,
    output:
        tokenizer=paths.tokenizer,
        settings=paths.tokenizer_settings,
    wildcard_constraints:
        model=project.models_with("gguf"),
    script:
        "../scripts/read_tokenizer.py"


rule dequantise_base:
    input:
        gguf=project.gguf_file,
    output:
        **paths.weights(paths.base_folder),
        record=paths.gguf_record,
    wildcard_constraints:
        model=project.models_with("gguf"),
    script:
        "../scripts/dequantise_base.py"


rule quantise_base:
    input:
        lambda w: project.plain_files(w.model),
    output:
        **paths.weights(paths.quantised_folder),
    threads: threads.pretraining
    script:
        "../scripts/quantise_base.py"


rule train_asce:
    input:
        **project.corpus_files(project.encoder_corpus, "documents", "splits", "roster"),
    output:
        weights=paths.encoder_weights,
        settings=paths.encoder_manifest,
    wildcard_constraints:
        encoder=project.encoders_with("training"),
    threads: threads.encoder
    script:
        "../scripts/train_asce.py"


rule fit_stylometry:
    input:
        **project.corpus_files(project.encoder_corpus, "documents", "splits", "roster"),
    output:
        weights=paths.encoder_weights,
        settings=paths.encoder_manifest,
    wildcard_constraints:
        encoder=project.encoders_with("fitting"),
    script:
        "../scripts/fit_stylometry.py"


rule make_demo_assistant:
    output:
        paths.assistant_texts,
    script:
        "../scripts/make_demo_assistant.py"


rule train_assistant:
    input:
        **project.corpus_files(project.assistant_corpus, "documents", "roster"),
        assistant=project.assistant_texts,
    output:
        weights=paths.assistant_weights,
        settings=paths.assistant_manifest,
        prototypes=paths.assistant_prototypes,
        calibration=paths.assistant_calibration,
    threads: threads.encoder
    script:
        "../scripts/train_assistant.py"


rule embed_sources:
    input:
        texts=paths.texts,
        encoder=project.encoder_files,
    output:
        embeddings=paths.source_embeddings,
    threads: threads.scoring
    script:
        "../scripts/embed_sources.py"


# Needs no text of the run: results/encoders/NAME/certificate.parquet says what an encoder knows of style.
rule certify_encoder:
    input:
        encoder=project.encoder_files,
    output:
        certificate=paths.certificate,
    threads: threads.scoring
    script:
        "../scripts/certify_encoder.py"
