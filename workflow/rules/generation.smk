# Held-out continuations of every run, and the work done once per text: embeddings and utility.


rule generate:
    input:
        adapters=training.adapters,
        behind=training.behind,
        prompts=paths.prompts,
        common_prompts=training.common_prompts,
        model=project.base_files,
    output:
        generations=paths.generations,
        common_generations=paths.common_generations,
        gates=paths.gates,
    wildcard_constraints:
        experiment=training.generating(parted=False),
        method=studies.trained_rows,
    threads: threads.generation
    script:
        "../scripts/generate.py"


# The same for some of many clients (generation.clients_per_job).
use rule generate as generate_part with:
    output:
        generations=paths.part_generations,
        common_generations=paths.part_common_generations,
        gates=paths.part_gates,
    wildcard_constraints:
        experiment=training.generating(parted=True),
        method=studies.trained_rows,
        part=r"\d+",


rule join_generations:
    input:
        generations=training.parts_of(paths.part_generations),
        common_generations=training.parts_of(paths.part_common_generations),
        gates=training.parts_of(paths.part_gates),
    output:
        generations=paths.generations,
        common_generations=paths.common_generations,
        gates=paths.gates,
    wildcard_constraints:
        experiment=training.generating(parted=True),
        method=studies.trained_rows,
    script:
        "../scripts/join_generations.py"


# Continuations that were made elsewhere.
rule read_outputs:
    input:
        source=project.given_outputs,
        prompts=project.prompts,
        common_prompts=training.common_prompts,
        tokenizer=preparation.tokenizer,
    output:
        generations=paths.generations,
        common_generations=paths.common_generations,
        gates=paths.gates,
    wildcard_constraints:
        method=studies.given_rows,
    script:
        "../scripts/read_outputs.py"


rule prompts:
    input:
        evaluation.prompts_to_answer,
    output:
        paths.prompt_list.each(experiment=evaluation.asking()),
    script:
        "../scripts/prompts.py"


rule embed_generations:
    input:
        generations=evaluation.generations,
        common_generations=evaluation.common_generations,
        prompts=project.prompts,
        encoder=project.encoder_files,
    output:
        embeddings=paths.generation_embeddings,
        golds=paths.gold_embeddings,
        common=paths.common_embeddings,
    threads: threads.scoring
    script:
        "../scripts/embed_generations.py"


rule measure_assistant:
    input:
        generations=evaluation.generations,
        prompts=project.prompts,
        classifier=lambda w: evaluation.classifier(w)[1:],
        weights=lambda w: evaluation.classifier(w)[0],
    output:
        assistant=paths.assistant_scores,
    threads: threads.scoring
    script:
        "../scripts/measure_assistant.py"


# Beside the embeddings, which take as long.
rule measure_bertscore:
    input:
        generations=evaluation.generations,
        prompts=project.prompts,
    output:
        bertscore=paths.bertscore,
    threads: threads.scoring
    script:
        "../scripts/measure_bertscore.py"


rule measure_utility:
    input:
        generations=evaluation.generations,
        prompts=project.prompts,
        bertscore=paths.bertscore,
        embeddings=lambda w: paths.generation_embeddings.of(w, encoder=project.semantic_encoder(w)),
        golds=lambda w: paths.gold_embeddings.of(w, encoder=project.semantic_encoder(w)),
    output:
        utility=paths.utility,
    script:
        "../scripts/measure_utility.py"
