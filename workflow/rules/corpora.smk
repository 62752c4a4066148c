# From a raw corpus to documents, splits, disjoint author roles, allocations and prompts.


rule make_demo_corpus:
    output:
        paths.raw_corpus,
    script:
        "../scripts/make_demo_corpus.py"


rule build_documents:
    input:
        project.raw_corpus,
    output:
        documents=paths.documents,
        dropped=paths.dropped,
        scripts=paths.scripts,
    script:
        "../scripts/build_documents.py"


rule split_documents:
    input:
        documents=paths.documents,
    output:
        splits=paths.splits,
    script:
        "../scripts/split_documents.py"


rule find_near_duplicates:
    input:
        documents=paths.documents,
        splits=paths.splits,
    output:
        near_duplicates=paths.near_duplicates,
    script:
        "../scripts/find_near_duplicates.py"


rule select_background:
    input:
        documents=paths.documents,
    output:
        background=paths.background,
    script:
        "../scripts/select_background.py"


rule count_tokens:
    input:
        documents=paths.documents,
        tokenizer=preparation.corpus_tokenizer,
    output:
        authors=paths.authors,
    script:
        "../scripts/count_tokens.py"


rule measure_authors:
    input:
        documents=paths.documents,
        splits=paths.splits,
        authors=paths.authors,
        near_duplicates=lambda w: project.near_duplicates(w.corpus),
    output:
        measures=paths.author_measures,
    script:
        "../scripts/measure_authors.py"


rule measure_suitability:
    input:
        documents=paths.documents,
        authors=paths.authors,
        splits=paths.splits,
        tokenizers=preparation.suitability_tokenizers,
        near_duplicates=preparation.copies,
    output:
        suitability=paths.suitability,
    params:
        studies=preparation.study_needs,
    script:
        "../scripts/measure_suitability.py"


rule assign_roles:
    input:
        documents=paths.documents,
        authors=paths.authors,
        splits=paths.splits,
        suitability=paths.suitability,
        background=lambda w: project.background(w.corpus),
        measures=preparation.filtered_by,
        near_duplicates=lambda w: project.near_duplicates(w.corpus),
    output:
        roster=paths.roster,
        overlap=paths.overlap,
    script:
        "../scripts/assign_roles.py"


rule allocate_texts:
    input:
        **project.corpus_files(project.corpus, "documents", "splits", "roster"),
    output:
        texts=paths.texts,
        allocation=paths.allocation,
    script:
        "../scripts/allocate_texts.py"


# Training reads its own clients of the tables as they are, so that a client that leaves changes no file under the others.
rule drop_withdrawn_clients:
    input:
        table=paths.client_table,
    output:
        table=paths.remaining_table,
    wildcard_constraints:
        table="texts|allocation|embeddings/[^/]+",
    script:
        "../scripts/drop_withdrawn_clients.py"


rule select_prompts:
    input:
        texts=project.texts,
        trained=paths.texts,
        tokenizer=preparation.tokenizer,
        near_duplicates=preparation.copied_posts,
    output:
        prompts=paths.prompts,
    wildcard_constraints:
        experiment=preparation.doing("continue"),
    script:
        "../scripts/select_prompts.py"


rule select_common_prompts:
    input:
        **project.corpus_files(project.corpus, "documents", "roster"),
        source=preparation.common_source,
        texts=paths.texts,
        tokenizer=preparation.tokenizer,
        near_duplicates=preparation.copied_posts,
    output:
        prompts=paths.common_prompts,
    script:
        "../scripts/select_common_prompts.py"


rule check_corpus:
    input:
        source=project.raw_corpus,
        documents=paths.documents,
        dropped=paths.dropped,
        authors=paths.authors,
        splits=paths.splits,
        suitability=paths.suitability,
        background=lambda w: project.background(w.corpus),
        measures=preparation.filtered_by,
        author_measures=paths.author_measures,
    output:
        page=paths.corpus_check,
    script:
        "../scripts/check_corpus.py"


rule check:
    input:
        preparation.checks,
    output:
        page=paths.check,
    script:
        "../scripts/check.py"
