# A language model as judge: made where an experiment configures one. What is asked names no method; the key that does is read by
# the scores alone.


rule prepare_judgements:
    input:
        generations=evaluation.generations,
        prompts=project.prompts,
        texts=project.texts,
    output:
        requests=paths.judge_requests,
        key=paths.judge_key,
    script:
        "../scripts/prepare_judgements.py"


# Answers are kept in studies/judges/answers as they come; it is not an output, so that a run that stops pays for nothing twice.
rule judge:
    input:
        requests=paths.judge_requests,
        model=studies.judge_files,
    output:
        judgements=paths.judgements,
    threads: threads.generation
    script:
        "../scripts/judge.py"


rule score_judges:
    input:
        judged=studies.judgements,
    output:
        scores=paths.scores.partial(family="judges"),
    script:
        "../scripts/score_judges.py"
