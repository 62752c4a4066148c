# Studies in which people read what the methods wrote. Items and pages quote texts: they are not for publication.


rule prepare_2afc:
    input:
        generations=studies.audited_generations,
        prompts=evaluation.prompts,
        texts=project.texts,
    output:
        audit=paths.audit_items,
    log:
        paths.log("prepare_2afc"),
    benchmark:
        paths.benchmark("prepare_2afc")
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("prepare_2afc"),
    params:
        cfg=studies.audit_settings,
        code=code("prepare_2afc"),
    script:
        "../scripts/prepare_2afc.py"


rule make_2afc_page:
    input:
        audit=paths.audit_items,
    output:
        page=paths.audit_page,
    log:
        paths.log("make_2afc_page"),
    benchmark:
        paths.benchmark("make_2afc_page")
    wildcard_constraints:
        annotator=r"[1-9]\d*",
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_2afc_page"),
    params:
        cfg=studies.page_settings,
        code=code("make_2afc_page"),
    script:
        "../scripts/make_2afc_page.py"


rule score_2afc:
    input:
        audit=studies.audit_items,
        responses=studies.responses,
    output:
        votes=paths.audit_votes,
        scores=paths.scores.where(family="human_2afc"),
    log:
        paths.log("score_2afc"),
    benchmark:
        paths.benchmark("score_2afc")
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("score_2afc"),
    params:
        cfg=studies.audit_score_settings,
        code=code("score_2afc"),
    script:
        "../scripts/score_2afc.py"
