# Scores: cheap, from the Parquet files above, every run of an experiment at once, one file per metric family.


rule score:
    input:
        unpack(evaluation.score_inputs),
    output:
        scores=report(
            paths.scores,
            caption="../report/scores.rst",
            category="Scores",
            subcategory="{experiment}",
            labels={"family": "{family}"},
        ),
    wildcard_constraints:
        family=r"(?!(?:efficiency|human_2afc|judges|likelihood|poisoning|privacy|stel|tasks|transfer|validation)\.)[a-z][a-z0-9_]*",
    threads: threads.scoring
    script:
        "../scripts/score.py"


# Scored from what was sent and logged, not from texts and embeddings.
rule score_efficiency:
    input:
        boundary=paths.boundary,
        logs=training.logs,
        adapters=training.initial_adapters,
    output:
        scores=paths.scores.partial(family="efficiency"),
    script:
        "../scripts/score_efficiency.py"


# Scored from what training logged of the clients' validation texts.
rule score_validation:
    input:
        logs=planner.validation.logs,
    output:
        scores=paths.scores.partial(family="validation"),
    script:
        "../scripts/score_validation.py"


# Scored from certificates of encoders, not from texts.
rule score_stel:
    input:
        certificates=lambda w: paths.certificate.each(w, encoder=project.encoders_of(w)),
    output:
        scores=paths.scores.partial(family="stel"),
    script:
        "../scripts/score_stel.py"
