# Statistics: paired comparisons of methods, one file per table that prints them; diagnostics that figures show.


rule compare_methods:
    input:
        unpack(evaluation.compare_methods_inputs),
    output:
        comparisons=paths.comparisons,
    threads: threads.scoring
    script:
        "../scripts/compare_methods.py"


rule compare_all:
    input:
        unpack(evaluation.compare_all_inputs),
    output:
        evidence=paths.evidence,
    threads: threads.scoring
    script:
        "../scripts/compare_all.py"


rule measure_allocation:
    input:
        unpack(evaluation.measure_allocation_inputs),
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
        unpack(evaluation.measure_participation_inputs),
    output:
        participation=paths.participation,
    threads: threads.scoring
    script:
        "../scripts/measure_participation.py"
