# From a raw corpus to documents, splits, disjoint author roles, allocations and prompts.

from favor.corpora.settings import (
    AuthorMeasuring,
    DocumentBuilding,
    NearDuplicates,
    RoleAssignment,
    Withdrawals,
)


rule make_demo_corpus:
    output:
        paths.raw_corpus,
    log:
        paths.log("make_demo_corpus"),
    benchmark:
        paths.benchmark("make_demo_corpus")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("make_demo_corpus"),
    params:
        cfg=preparation.demo_corpus_settings,
        code=code("make_demo_corpus"),
    script:
        "../scripts/make_demo_corpus.py"


rule build_documents:
    input:
        project.raw_corpus,
    output:
        documents=paths.documents,
        dropped=paths.dropped,
        scripts=paths.scripts,
    log:
        paths.log("build_documents"),
    benchmark:
        paths.benchmark("build_documents")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("build_documents", streamed=True),
    params:
        cfg=project.of_corpus(DocumentBuilding),
        code=lambda w: code("build_documents", project.reader_code(w)),
    script:
        "../scripts/build_documents.py"


rule split_documents:
    input:
        documents=paths.documents,
    output:
        splits=paths.splits,
    log:
        paths.log("split_documents"),
    benchmark:
        paths.benchmark("split_documents")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("split_documents"),
    params:
        cfg=preparation.split_settings,
        code=code("split_documents"),
    script:
        "../scripts/split_documents.py"


rule find_near_duplicates:
    input:
        documents=paths.documents,
        splits=paths.splits,
    output:
        near_duplicates=paths.near_duplicates,
    log:
        paths.log("find_near_duplicates"),
    benchmark:
        paths.benchmark("find_near_duplicates")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("find_near_duplicates"),
    params:
        cfg=project.of_corpus(NearDuplicates),
        code=code("find_near_duplicates"),
    script:
        "../scripts/find_near_duplicates.py"


rule select_background:
    input:
        documents=paths.documents,
    output:
        background=paths.background,
    log:
        paths.log("select_background"),
    benchmark:
        paths.benchmark("select_background")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("select_background"),
    params:
        cfg=preparation.background_settings,
        code=code("select_background"),
    script:
        "../scripts/select_background.py"


rule count_tokens:
    input:
        documents=paths.documents,
        tokenizer=preparation.corpus_tokenizer,
    output:
        authors=paths.authors,
    log:
        paths.log("count_tokens"),
    benchmark:
        paths.benchmark("count_tokens")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("count_tokens"),
    params:
        cfg=preparation.token_settings,
        code=code("count_tokens"),
    script:
        "../scripts/count_tokens.py"


rule measure_authors:
    input:
        documents=paths.documents,
        splits=paths.splits,
        authors=paths.authors,
        near_duplicates=preparation.near_duplicates,
    output:
        measures=paths.author_measures,
    log:
        paths.log("measure_authors"),
    benchmark:
        paths.benchmark("measure_authors")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("measure_authors"),
    params:
        cfg=project.of_corpus(AuthorMeasuring),
        code=code("measure_authors"),
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
    log:
        paths.log("measure_suitability"),
    benchmark:
        paths.benchmark("measure_suitability")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("measure_suitability"),
    params:
        cfg=preparation.suitability_settings,
        studies=preparation.study_needs,
        code=code("measure_suitability"),
    script:
        "../scripts/measure_suitability.py"


rule assign_roles:
    input:
        documents=paths.documents,
        authors=paths.authors,
        splits=paths.splits,
        suitability=paths.suitability,
        background=preparation.background,
        measures=preparation.filtered_by,
        near_duplicates=preparation.near_duplicates,
    output:
        roster=paths.roster,
        overlap=paths.overlap,
    log:
        paths.log("assign_roles"),
    benchmark:
        paths.benchmark("assign_roles")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("assign_roles"),
    params:
        cfg=project.of_corpus(RoleAssignment),
        code=code("assign_roles"),
    script:
        "../scripts/assign_roles.py"


rule allocate_texts:
    input:
        documents=project.documents,
        splits=project.splits,
        roster=project.roster,
    output:
        texts=paths.texts,
        allocation=paths.allocation,
    log:
        paths.log("allocate_texts"),
    benchmark:
        paths.benchmark("allocate_texts")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("allocate_texts"),
    params:
        cfg=preparation.allocation_settings,
        code=code("allocate_texts"),
    script:
        "../scripts/allocate_texts.py"


# Training reads its own clients of the tables as they are, so that a client that leaves changes no file under the others.
rule leave_out_withdrawn:
    input:
        table=paths.client_table,
    output:
        table=paths.remaining_table,
    log:
        paths.log("leave_out_withdrawn"),
    benchmark:
        paths.benchmark("leave_out_withdrawn")
    wildcard_constraints:
        table="texts|allocation|embeddings/[^/]+",
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("leave_out_withdrawn"),
    params:
        cfg=project.of_experiment(Withdrawals),
        code=code("leave_out_withdrawn"),
    script:
        "../scripts/leave_out_withdrawn.py"


rule select_prompts:
    input:
        texts=project.texts,
        trained=paths.texts,
        tokenizer=preparation.tokenizer,
        near_duplicates=preparation.copied_posts,
    output:
        prompts=paths.prompts,
    log:
        paths.log("select_prompts"),
    benchmark:
        paths.benchmark("select_prompts")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("select_prompts"),
    params:
        cfg=preparation.prompt_settings,
        code=code("select_prompts"),
    script:
        "../scripts/select_prompts.py"


rule select_common_prompts:
    input:
        source=preparation.common_source,
        texts=paths.texts,
        documents=project.documents,
        roster=project.roster,
        tokenizer=preparation.tokenizer,
        near_duplicates=preparation.copied_posts,
    output:
        prompts=paths.common_prompts,
    log:
        paths.log("select_common_prompts"),
    benchmark:
        paths.benchmark("select_common_prompts")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("select_common_prompts", streamed=True),
    params:
        cfg=preparation.common_prompt_settings,
        code=code("select_common_prompts"),
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
        background=preparation.background,
        measures=preparation.filtered_by,
        author_measures=paths.author_measures,
    output:
        page=paths.corpus_check,
    log:
        paths.log("check_corpus"),
    benchmark:
        paths.benchmark("check_corpus")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("check_corpus", streamed=True),
    params:
        cfg=preparation.readiness_settings,
        code=lambda w: code("check_corpus", project.reader_module(w)),
    script:
        "../scripts/check_corpus.py"


rule check:
    input:
        preparation.checks,
    output:
        page=paths.check,
    log:
        paths.log("check"),
    benchmark:
        paths.benchmark("check")
    conda:
        "../../envs/data.yaml"
    resources:
        **asks("check"),
    params:
        code=code("check"),
    script:
        "../scripts/check.py"
