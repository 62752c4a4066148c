# Likelihood attribution: every client's model reads every client's held-out texts. The base reads them once.


rule read_base_likelihoods:
    input:
        texts=project.texts,
        prompts=likelihood.prompts,
        common_prompts=training.common_prompts,
        near_duplicates=likelihood.near_duplicates,
        neutral=likelihood.neutral,
        model=project.base_files,
    output:
        texts=paths.read_texts,
    log:
        paths.log("read_base_likelihoods"),
    benchmark:
        paths.benchmark("read_base_likelihoods")
    conda:
        "../../envs/models.yaml"
    threads: threads.generation
    resources:
        **asks(
            "read_base_likelihoods",
            costs.experiment_gpus,
            costs.base_reading_work,
            costs.base_model,
        ),
    params:
        cfg=likelihood.text_settings,
        code=code("read_base_likelihoods"),
    script:
        "../scripts/read_base_likelihoods.py"


rule read_likelihoods:
    input:
        adapters=training.adapters,
        behind=training.behind,
        texts=paths.read_texts,
        model=project.base_files,
    output:
        likelihood=paths.likelihood,
    log:
        paths.log("read_likelihoods"),
    benchmark:
        paths.benchmark("read_likelihoods")
    wildcard_constraints:
        method=likelihood.rows(),
    conda:
        "../../envs/models.yaml"
    threads: threads.generation
    resources:
        **asks(
            "read_likelihoods",
            costs.experiment_gpus,
            costs.reading_work,
            costs.base_model,
        ),
    params:
        cfg=likelihood.reading_settings,
        code=code("read_likelihoods"),
    script:
        "../scripts/read_likelihoods.py"


rule score_likelihood:
    input:
        readings=likelihood.readings,
    output:
        scores=paths.scores.where(family="likelihood"),
    log:
        paths.log("score_likelihood"),
    benchmark:
        paths.benchmark("score_likelihood")
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("score_likelihood"),
    params:
        cfg=likelihood.score_settings,
        code=code("score_likelihood"),
    script:
        "../scripts/score_likelihood.py"
