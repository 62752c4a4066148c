# Experiments whose models answer: what the untouched base makes of every passage, the held-out ones as prompts, scores.


rule make_requests:
    input:
        texts=paths.texts,
        model=project.base_files,
    output:
        requests=paths.requests,
    threads: threads.generation
    script:
        "../scripts/make_requests.py"


rule select_requests:
    input:
        requests=paths.requests,
        trained=paths.texts,
        near_duplicates=preparation.copied_posts,
    output:
        prompts=paths.prompts,
    wildcard_constraints:
        experiment=preparation.doing("rewrite", "instruct"),
    script:
        "../scripts/select_requests.py"


rule embed_drafts:
    input:
        prompts=project.prompts,
        encoder=project.encoder_files,
    output:
        drafts=paths.draft_embeddings,
    threads: threads.scoring
    script:
        "../scripts/embed_drafts.py"


rule score_tasks:
    input:
        unpack(evaluation.score_tasks_inputs),
    output:
        scores=paths.scores.partial(family="tasks"),
    script:
        "../scripts/score_tasks.py"
