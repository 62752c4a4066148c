# Continuations without training: the base model with a longer prompt. Sheets, personas and requests quote clients' texts, so
# they stand under clients/.


rule distil_sheets:
    input:
        texts=project.texts,
        model=lambda w: project.model_files(project.sheet_model(w)),
    output:
        sheets=paths.sheets,
    threads: threads.generation
    script:
        "../scripts/distil_sheets.py"


rule generate_prompted:
    input:
        prompts=paths.prompts,
        common_prompts=training.common_prompts,
        texts=project.texts,
        sheets=studies.sheets,
        model=project.base_files,
    output:
        generations=paths.generations,
        common_generations=paths.common_generations,
        gates=paths.gates,
        requests=paths.prompted_requests,
    wildcard_constraints:
        method=studies.prompted_rows,
    threads: threads.generation
    script:
        "../scripts/generate_prompted.py"
