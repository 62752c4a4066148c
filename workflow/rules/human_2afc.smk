# Studies in which people read what the methods wrote. Items and pages quote texts: they are not for publication.


rule prepare_2afc:
    input:
        generations=studies.audited_generations,
        prompts=project.prompts,
        texts=project.texts,
    output:
        audit=paths.audit_items,
    script:
        "../scripts/prepare_2afc.py"


rule make_2afc_page:
    input:
        audit=paths.audit_items,
    output:
        page=paths.audit_page,
    wildcard_constraints:
        annotator=r"[1-9]\d*",
    script:
        "../scripts/make_2afc_page.py"


rule score_2afc:
    input:
        audit=studies.audit_items,
        responses=studies.responses,
    output:
        votes=paths.audit_votes,
        scores=paths.scores.partial(family="human_2afc"),
    script:
        "../scripts/score_2afc.py"
