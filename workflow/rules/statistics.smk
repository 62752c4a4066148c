# Statistics: paired comparisons of methods, one file per table that prints them; diagnostics that figures show.


rule compare_methods:
    input:
        generations=evaluation.generations,
        prompts=evaluation.prompts,
        sources=evaluation.compared_sources,
        golds=evaluation.compared_golds,
        embeddings=evaluation.compared_embeddings,
        utility=paths.utility,
        assistant=evaluation.assistant_scores,
    output:
        comparisons=paths.comparisons,
    log:
        paths.log("compare_methods"),
    benchmark:
        paths.benchmark("compare_methods")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("compare_methods"),
    params:
        cfg=evaluation.comparison_settings,
        code=code("compare_methods"),
    script:
        "../scripts/compare_methods.py"


rule compare_all:
    input:
        generations=evaluation.generations,
        prompts=evaluation.prompts,
        sources=evaluation.sources,
        golds=evaluation.golds,
        embeddings=evaluation.embeddings,
        utility=paths.utility,
        assistant=evaluation.assistant_scores,
    output:
        evidence=paths.evidence,
    log:
        paths.log("compare_all"),
    benchmark:
        paths.benchmark("compare_all")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("compare_all"),
    params:
        cfg=evaluation.evidence_settings,
        code=code("compare_all"),
    script:
        "../scripts/compare_all.py"


rule measure_allocation:
    input:
        packs=evaluation.energy_bundles,
        behind=evaluation.energy_behind,
    output:
        energy=paths.adapter_energy,
    log:
        paths.log("measure_allocation"),
    benchmark:
        paths.benchmark("measure_allocation")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("measure_allocation"),
    params:
        code=code("measure_allocation"),
    script:
        "../scripts/measure_allocation.py"


rule measure_coordinates:
    input:
        sources=evaluation.style_sources,
        texts=project.texts,
    output:
        effects=paths.coordinate_effects,
    log:
        paths.log("measure_coordinates"),
    benchmark:
        paths.benchmark("measure_coordinates")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("measure_coordinates"),
    params:
        code=code("measure_coordinates"),
    script:
        "../scripts/measure_coordinates.py"


rule measure_participation:
    input:
        generations=evaluation.generations,
        prompts=evaluation.prompts,
        sources=evaluation.style_sources,
        golds=evaluation.style_golds,
        embeddings=evaluation.style_generations,
    output:
        participation=paths.participation,
    log:
        paths.log("measure_participation"),
    benchmark:
        paths.benchmark("measure_participation")
    conda:
        "../../envs/models.yaml"
    threads: threads.scoring
    resources:
        **asks("measure_participation"),
    params:
        cfg=evaluation.participation_settings,
        code=code("measure_participation"),
    script:
        "../scripts/measure_participation.py"
