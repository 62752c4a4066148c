# Studies in which people read what the methods wrote. Items and pages quote texts: they are not for publication.


def audit_of(wildcards):
    """The human audit's configuration, or None."""
    return experiment_of(wildcards)["studies"]["human_2afc"]


def audit_folder(name):
    return f"{RESULTS}/{name}/studies/human_2afc"


def study_targets():
    """The pages of every human audit that is configured."""
    return [
        f"{audit_folder(name)}/annotator_{number}.html"
        for name, experiment in EXPERIMENTS.items()
        if experiment["studies"]["human_2afc"] is not None
        for number in range(1, experiment["studies"]["human_2afc"]["annotators"] + 1)
    ]


def printed_studies(name):
    """The studies of an experiment as settings and report print them; no path of this machine."""
    return {
        study: settings and {k: v for k, v in settings.items() if k != "responses"}
        for study, settings in EXPERIMENTS[name]["studies"].items()
    }


def audited_generations(wildcards):
    """The outputs that items may be drawn from."""
    return [
        f"{seed_folder(wildcards.experiment, seed)}/{method}/generations.parquet"
        for seed in experiment_of(wildcards)["seeds"]
        for method in audit_of(wildcards)["methods"]
    ]


def audit_items(wildcards):
    return (
        []
        if audit_of(wildcards) is None
        else f"{audit_folder(wildcards.experiment)}/items.parquet"
    )


def response_files(wildcards):
    """The response files that have come back."""
    audit = audit_of(wildcards)
    if audit is None or audit["responses"] is None:
        return []
    paths = sorted(str(path) for path in Path(audit["responses"]).glob("*.json"))
    for path in paths:
        # Snakemake would take them for wildcards.
        if set(path) & set("{}"):
            stop(f"{path}: a name with braces cannot be read; rename the file")
    return paths


def audit_scoring(wildcards):
    """What the scoring of the audit reads; without an audit, the sources whose rows say that there is none."""
    audit = audit_of(wildcards)
    if audit is None:
        return {"methods": ["ditto", "favor"], "configured": False}
    return {"configured": True, **pick(audit, "methods", "annotators", "seed")}


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
    params:
        cfg=lambda w: cfg(**audit_scoring(w)),
        code=code("score_2afc"),
    script:
        "../scripts/score_2afc.py"
