# Base models and style encoders that are trained here, and the embeddings of the clients' own texts.


rule train_tokenizer:
    input:
        documents=lambda w: corpus_file(pretraining(w)["corpus"], "documents.parquet"),
        background=lambda w: background_file(pretraining(w)["corpus"]),
    output:
        tokenizer=f"{RESULTS}/models/{{model}}/tokenizer/tokenizer.json",
        settings=f"{RESULTS}/models/{{model}}/tokenizer/tokenizer_config.json",
    log:
        f"{RESULTS}/logs/train_tokenizer/{{model}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_tokenizer/{{model}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("train_tokenizer"),
    params:
        cfg=lambda w: cfg(**pick(pretraining(w), "vocabulary_size")),
        code=code("train_tokenizer"),
    script:
        "../scripts/train_tokenizer.py"


rule pretrain_base:
    input:
        documents=lambda w: corpus_file(pretraining(w)["corpus"], "documents.parquet"),
        background=lambda w: background_file(pretraining(w)["corpus"]),
        tokenizer=f"{RESULTS}/models/{{model}}/tokenizer/tokenizer.json",
    output:
        weights=f"{RESULTS}/models/{{model}}/base/model.safetensors",
        settings=f"{RESULTS}/models/{{model}}/base/config.json",
        tokenizer=f"{RESULTS}/models/{{model}}/base/tokenizer.json",
    log:
        f"{RESULTS}/logs/pretrain_base/{{model}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pretrain_base/{{model}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["pretraining"]
    resources:
        **asks("pretrain_base", work=pretraining_work),
    params:
        cfg=lambda w: cfg(
            **{key: value for key, value in pretraining(w).items() if key != "corpus"}
        ),
        code=code("pretrain_base"),
    script:
        "../scripts/pretrain_base.py"


rule quantise_base:
    input:
        lambda w: plain_files(w.model),
    output:
        weights=f"{RESULTS}/models/{{model}}/quantised/model.safetensors",
        settings=f"{RESULTS}/models/{{model}}/quantised/config.json",
        tokenizer=f"{RESULTS}/models/{{model}}/quantised/tokenizer.json",
    log:
        f"{RESULTS}/logs/quantise_base/{{model}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/quantise_base/{{model}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["pretraining"]
    resources:
        **asks("quantise_base", gpus, model=base_model_of),
    params:
        cfg=lambda w: cfg(
            source=plain_folder(w.model),
            **pick(CONFIG["base_models"][w.model], "quantisation", "device", "dtype"),
        ),
        code=code("quantise_base"),
    script:
        "../scripts/quantise_base.py"


rule train_asce:
    input:
        documents=lambda w: encoder_corpus(w, "documents.parquet"),
        splits=lambda w: encoder_corpus(w, "splits.parquet"),
        roster=lambda w: encoder_corpus(w, "roster.parquet"),
    output:
        weights=f"{RESULTS}/encoders/{{encoder}}/encoder.safetensors",
        settings=f"{RESULTS}/encoders/{{encoder}}/encoder.json",
    log:
        f"{RESULTS}/logs/train_asce/{{encoder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_asce/{{encoder}}.tsv"
    wildcard_constraints:
        encoder=encoders_with("training"),
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["encoder"]
    resources:
        **asks("train_asce", gpus, encoder_work),
    params:
        cfg=lambda w: cfg(
            source=CONFIG["encoders"][w.encoder]["source"], training=asce_training(w)
        ),
        code=code("train_asce"),
    script:
        "../scripts/train_asce.py"


rule fit_stylometry:
    input:
        documents=lambda w: encoder_corpus(w, "documents.parquet"),
        splits=lambda w: encoder_corpus(w, "splits.parquet"),
        roster=lambda w: encoder_corpus(w, "roster.parquet"),
    output:
        weights=f"{RESULTS}/encoders/{{encoder}}/encoder.safetensors",
        settings=f"{RESULTS}/encoders/{{encoder}}/encoder.json",
    log:
        f"{RESULTS}/logs/fit_stylometry/{{encoder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fit_stylometry/{{encoder}}.tsv"
    wildcard_constraints:
        encoder=encoders_with("fitting"),
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("fit_stylometry"),
    params:
        cfg=lambda w: cfg(
            **{
                key: value
                for key, value in CONFIG["encoders"][w.encoder]["fitting"].items()
                if key != "corpus"
            }
        ),
        code=code("fit_stylometry"),
    script:
        "../scripts/fit_stylometry.py"


rule make_demo_assistant:
    output:
        f"{RESULTS}/assistants/{{assistant}}/texts.csv",
    log:
        f"{RESULTS}/logs/make_demo_assistant/{{assistant}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_demo_assistant/{{assistant}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("make_demo_assistant"),
    params:
        cfg=lambda w: cfg(**CONFIG["assistants"][w.assistant]["demo"]),
        code=code("make_demo_assistant"),
    script:
        "../scripts/make_demo_assistant.py"


rule train_assistant:
    input:
        assistant=lambda w: CONFIG["assistants"][w.assistant]["path"]
        or f"{RESULTS}/assistants/{w.assistant}/texts.csv",
        documents=lambda w: corpus_file(
            CONFIG["assistants"][w.assistant]["corpus"], "documents.parquet"
        ),
        roster=lambda w: corpus_file(
            CONFIG["assistants"][w.assistant]["corpus"], "roster.parquet"
        ),
    output:
        weights=f"{RESULTS}/assistants/{{assistant}}/encoder.safetensors",
        settings=f"{RESULTS}/assistants/{{assistant}}/encoder.json",
        prototypes=f"{RESULTS}/assistants/{{assistant}}/assistant.safetensors",
        calibration=f"{RESULTS}/assistants/{{assistant}}/assistant.json",
    log:
        f"{RESULTS}/logs/train_assistant/{{assistant}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_assistant/{{assistant}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["encoder"]
    resources:
        **asks("train_assistant", gpus, classifier_work),
    params:
        cfg=lambda w: cfg(
            **pick(
                CONFIG["assistants"][w.assistant],
                *("column", "role", "people", "texts", "seed"),
            ),
            training=assistant_training(w.assistant),
        ),
        code=code("train_assistant"),
    script:
        "../scripts/train_assistant.py"


rule embed_sources:
    input:
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        encoder=lambda w: encoder_files(w.encoder),
    output:
        embeddings=f"{RESULTS}/{{experiment}}/clients/embeddings/{{encoder}}.parquet",
    log:
        f"{RESULTS}/logs/embed_sources/{{experiment}}-{{encoder}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/embed_sources/{{experiment}}-{{encoder}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["scoring"]
    resources:
        **asks("embed_sources", gpus, source_work),
    params:
        cfg=lambda w: cfg(encoder=encoder_settings(w.encoder)),
        code=lambda w: code("embed_sources", encoder_module(w.encoder)),
    script:
        "../scripts/embed_sources.py"
