# Studies in which people read what the methods wrote. Items and pages quote texts: they are not for publication.


rule prepare_2afc:
    input:
        generations=audited_generations,
        prompts=prompt_files,
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
    output:
        audit=f"{RESULTS}/{{experiment}}/studies/human_2afc/items.parquet",
    log:
        f"{RESULTS}/logs/prepare_2afc/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/prepare_2afc/{{experiment}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("prepare_2afc"),
    params:
        cfg=lambda w: cfg(
            seeds=experiment_of(w)["seeds"],
            settings=pick(
                {**experiment_of(w)["generation"], **audit_of(w)},
                *("methods", "items", "human_items", "excerpts", "excerpt_words"),
                *("distractor", "seed"),
                *("minimum_words", "minimum_distinct_bigram_ratio"),
            ),
        ),
        code=code("prepare_2afc"),
    script:
        "../scripts/prepare_2afc.py"


rule make_2afc_page:
    input:
        audit=f"{RESULTS}/{{experiment}}/studies/human_2afc/items.parquet",
    output:
        page=f"{RESULTS}/{{experiment}}/studies/human_2afc/annotator_{{annotator}}.html",
    log:
        f"{RESULTS}/logs/make_2afc_page/{{experiment}}-{{annotator}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_2afc_page/{{experiment}}-{{annotator}}.tsv"
    wildcard_constraints:
        annotator=r"[1-9]\d*",
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_2afc_page"),
    params:
        cfg=lambda w: cfg(annotator=int(w.annotator), seed=audit_of(w)["seed"]),
        code=code("make_2afc_page"),
    script:
        "../scripts/make_2afc_page.py"


rule score_2afc:
    input:
        audit=audit_items,
        responses=response_files,
    output:
        votes=f"{RESULTS}/{{experiment}}/studies/human_2afc/votes.parquet",
        scores=f"{RESULTS}/{{experiment}}/scores/human_2afc.parquet",
    log:
        f"{RESULTS}/logs/score_2afc/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_2afc/{{experiment}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("score_2afc"),
    params:
        cfg=lambda w: cfg(**audit_scoring(w)),
        code=code("score_2afc"),
    script:
        "../scripts/score_2afc.py"
