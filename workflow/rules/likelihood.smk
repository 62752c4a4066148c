# Likelihood attribution: every client's model reads every client's held-out texts. The base reads them once.


rule read_base_likelihoods:
    input:
        texts=project.texts,
        prompts=project.prompts,
        common_prompts=training.common_prompts,
        near_duplicates=lambda w: project.near_duplicates(project.corpus(w)),
        neutral=likelihood.neutral,
        model=project.base_files,
    output:
        texts=paths.read_texts,
    threads: threads.generation
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
    wildcard_constraints:
        method=likelihood.rows(),
    threads: threads.generation
    script:
        "../scripts/read_likelihoods.py"


rule score_likelihood:
    input:
        readings=likelihood.readings,
    output:
        scores=paths.scores.partial(family="likelihood"),
    script:
        "../scripts/score_likelihood.py"


# What an attack does to honest authors, beside an experiment without it.
rule score_poisoning:
    input:
        readings=likelihood.readings,
        beside=likelihood.readings_beside,
    output:
        scores=paths.scores.partial(family="poisoning"),
    script:
        "../scripts/score_poisoning.py"
