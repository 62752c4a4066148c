# Statistics: paired comparisons of methods, one file per table that prints them; diagnostics that figures show.


rule compare_methods:
    input:
        **evaluation.outputs_in(evaluation.compared_encoders),
        utility=paths.utility,
        assistant=evaluation.assistant_scores,
    output:
        comparisons=paths.comparisons,
    threads: threads.scoring
    script:
        "../scripts/compare_methods.py"


rule compare_all:
    input:
        **evaluation.outputs_in(project.encoders_of),
        utility=paths.utility,
        assistant=evaluation.assistant_scores,
    output:
        evidence=paths.evidence,
    threads: threads.scoring
    script:
        "../scripts/compare_all.py"


rule measure_allocation:
    input:
        packs=evaluation.energy_bundles,
        behind=evaluation.energy_behind,
    output:
        energy=paths.adapter_energy,
    threads: threads.scoring
    script:
        "../scripts/measure_allocation.py"


rule measure_coordinates:
    input:
        sources=evaluation.style_sources,
        texts=project.texts,
    output:
        effects=paths.coordinate_effects,
    threads: threads.scoring
    script:
        "../scripts/measure_coordinates.py"


rule measure_participation:
    input:
        **evaluation.outputs_in(project.style_encoder),
    output:
        participation=paths.participation,
    threads: threads.scoring
    script:
        "../scripts/measure_participation.py"
