# A language model as judge: made where an experiment configures one. What is asked names no method; the key that does is read by
# the scores alone.


rule prepare_judgements:
    input:
        generations=generation_files,
        prompts=prompt_files,
        texts=f"{RESULTS}/{{experiment}}/clients/texts.parquet",
    output:
        requests=f"{RESULTS}/{{experiment}}/clients/judge_requests.parquet",
        key=f"{RESULTS}/{{experiment}}/studies/judges/key.parquet",
    log:
        f"{RESULTS}/logs/prepare_judgements/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/prepare_judgements/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("prepare_judgements"),
    params:
        cfg=lambda w: cfg(
            seeds=experiment_of(w)["seeds"],
            **pick(
                judges_of(w),
                *("methods", "voice", "judgements"),
                *("profile_texts", "profile_words", "answer_tokens", "seed"),
            ),
        ),
        code=code("prepare_judgements"),
    script:
        "../scripts/prepare_judgements.py"


# Answers are kept in studies/judges/answers as they come; it is no output, so that a run that stops pays for nothing twice.
rule judge:
    input:
        requests=f"{RESULTS}/{{experiment}}/clients/judge_requests.parquet",
        model=judge_model_files,
    output:
        judgements=f"{RESULTS}/{{experiment}}/studies/judges/judgements.parquet",
    log:
        f"{RESULTS}/logs/judge/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/judge/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    threads: CONFIG["threads"]["generation"]
    resources:
        **asks("judge", judge_gpus, model=judge_model),
    params:
        cfg=lambda w: cfg(**judge_settings(w)),
        code=lambda w: code(
            "judge", f"favor.studies.judges_{judges_of(w)['model']}:open_judge"
        ),
    script:
        "../scripts/judge.py"


rule score_judges:
    input:
        judged=judge_files,
    output:
        scores=f"{RESULTS}/{{experiment}}/scores/judges.parquet",
    log:
        f"{RESULTS}/logs/score_judges/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_judges/{{experiment}}.tsv"
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("score_judges"),
    params:
        cfg=lambda w: cfg(**judged(w)),
        code=code("score_judges"),
    script:
        "../scripts/score_judges.py"
