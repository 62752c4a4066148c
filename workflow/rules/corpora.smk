# From a raw corpus to documents, splits, disjoint author roles, allocations and prompts.


rule make_demo_corpus:
    output:
        f"{RESULTS}/corpora/{{corpus}}/raw.csv",
    log:
        f"{RESULTS}/logs/make_demo_corpus/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_demo_corpus/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("make_demo_corpus"),
    params:
        cfg=lambda w: cfg(**CONFIG["corpora"][w.corpus]["demo"]),
        code=code("make_demo_corpus"),
    script:
        "../scripts/make_demo_corpus.py"


rule build_documents:
    input:
        raw_corpus,
    output:
        documents=f"{RESULTS}/corpora/{{corpus}}/documents.parquet",
        dropped=f"{RESULTS}/corpora/{{corpus}}/dropped.parquet",
    log:
        f"{RESULTS}/logs/build_documents/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_documents/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("build_documents"),
    params:
        cfg=lambda w: cfg(
            **pick(
                CONFIG["corpora"][w.corpus],
                *("reader", "encoding", "columns", "word_pattern", "shared_authors"),
            )
        ),
        code=lambda w: code("build_documents", reader_module(w)),
    script:
        "../scripts/build_documents.py"


rule split_documents:
    input:
        documents=f"{RESULTS}/corpora/{{corpus}}/documents.parquet",
    output:
        splits=f"{RESULTS}/corpora/{{corpus}}/splits.parquet",
    log:
        f"{RESULTS}/logs/split_documents/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/split_documents/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("split_documents"),
    params:
        cfg=lambda w: cfg(**pick(CONFIG["corpora"][w.corpus], "seed", "minimum_posts")),
        code=code("split_documents"),
    script:
        "../scripts/split_documents.py"


rule select_background:
    input:
        documents=f"{RESULTS}/corpora/{{corpus}}/documents.parquet",
    output:
        background=f"{RESULTS}/corpora/{{corpus}}/background.parquet",
    log:
        f"{RESULTS}/logs/select_background/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/select_background/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("select_background"),
    params:
        cfg=lambda w: cfg(
            authors=CONFIG["corpora"][w.corpus]["roles"]["background"],
            minimum_words=CONFIG["corpora"][w.corpus]["background_minimum_words"],
            seed=CONFIG["corpora"][w.corpus]["seed"],
        ),
        code=code("select_background"),
    script:
        "../scripts/select_background.py"


rule count_tokens:
    input:
        documents=f"{RESULTS}/corpora/{{corpus}}/documents.parquet",
        tokenizer=lambda w: tokenizer_files(CONFIG["corpora"][w.corpus]["tokenizer"]),
    output:
        authors=f"{RESULTS}/corpora/{{corpus}}/authors.parquet",
    log:
        f"{RESULTS}/logs/count_tokens/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/count_tokens/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("count_tokens"),
    params:
        cfg=lambda w: cfg(
            tokenizer=tokenizer_folder(CONFIG["corpora"][w.corpus]["tokenizer"])
        ),
        code=code("count_tokens"),
    script:
        "../scripts/count_tokens.py"


rule assign_roles:
    input:
        documents=f"{RESULTS}/corpora/{{corpus}}/documents.parquet",
        authors=f"{RESULTS}/corpora/{{corpus}}/authors.parquet",
        splits=f"{RESULTS}/corpora/{{corpus}}/splits.parquet",
        background=lambda w: background_file(w.corpus),
    output:
        roster=f"{RESULTS}/corpora/{{corpus}}/roster.parquet",
        overlap=f"{RESULTS}/corpora/{{corpus}}/overlap.parquet",
    log:
        f"{RESULTS}/logs/assign_roles/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/assign_roles/{{corpus}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("assign_roles"),
    params:
        cfg=lambda w: cfg(
            **pick(
                CONFIG["corpora"][w.corpus],
                *(
                    "roles",
                    "minimum_tokens",
                    "selection",
                    "style_clusters",
                    "seed",
                    "word_pattern",
                ),
            )
        ),
        code=code("assign_roles"),
    script:
        "../scripts/assign_roles.py"


rule allocate_texts:
    input:
        documents=lambda w: experiment_corpus(w, "documents.parquet"),
        splits=lambda w: experiment_corpus(w, "splits.parquet"),
        roster=lambda w: experiment_corpus(w, "roster.parquet"),
    output:
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        allocation=f"{RESULTS}/{{experiment}}/clients/allocation.parquet",
    log:
        f"{RESULTS}/logs/allocate_texts/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/allocate_texts/{{experiment}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("allocate_texts"),
    params:
        cfg=lambda w: cfg(
            **experiment_of(w)["allocation"],
            **pick(experiment_of(w), "clients", "skip_clients"),
            word_pattern=CONFIG["corpora"][experiment_of(w)["corpus"]]["word_pattern"],
        ),
        code=code("allocate_texts"),
    script:
        "../scripts/allocate_texts.py"


rule select_prompts:
    input:
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
        tokenizer=lambda w: tokenizer_files(experiment_of(w)["base_model"]),
    output:
        prompts=f"{RESULTS}/{{experiment}}/seed{{seed}}/prompts.parquet",
    log:
        f"{RESULTS}/logs/select_prompts/{{experiment}}-seed{{seed}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/select_prompts/{{experiment}}-seed{{seed}}.tsv"
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("select_prompts"),
    params:
        cfg=lambda w: cfg(
            **experiment_of(w)["prompts"],
            max_new_tokens=experiment_of(w)["generation"]["max_new_tokens"],
            tokenizer=tokenizer_folder(experiment_of(w)["base_model"]),
        ),
        code=code("select_prompts"),
    script:
        "../scripts/select_prompts.py"
