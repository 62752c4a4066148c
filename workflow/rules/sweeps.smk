# Sweeps: the scores of several experiments side by side, and the tables and figures over them.


rule collect_sweep:
    input:
        scores=sweep_scores,
    output:
        scores=f"{RESULTS}/sweeps/{{sweep}}/scores.parquet",
    log:
        f"{RESULTS}/logs/collect_sweep/{{sweep}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/collect_sweep/{{sweep}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("collect_sweep"),
    params:
        cfg=lambda w: cfg(
            points=SWEEPS[w.sweep]["points"], families=sweep_families(w.sweep)
        ),
        code=code("collect_sweep"),
    script:
        "../scripts/collect_sweep.py"


rule make_sweep_table:
    input:
        scores=f"{RESULTS}/sweeps/{{sweep}}/scores.parquet",
        comparisons=sweep_comparisons,
        paper=lambda w: paper_file(w.label),
    output:
        cells=f"{RESULTS}/sweeps/{{sweep}}/tables/{{label}}.parquet",
        tex=f"{RESULTS}/sweeps/{{sweep}}/tables/{{label}}.tex",
        html=f"{RESULTS}/sweeps/{{sweep}}/tables/{{label}}.html",
    log:
        f"{RESULTS}/logs/make_sweep_table/{{sweep}}-{{label}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_sweep_table/{{sweep}}-{{label}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_sweep_table"),
    params:
        cfg=lambda w: cfg(
            points=SWEEPS[w.sweep]["points"], contexts=sweep_contexts(w.sweep)
        ),
        code=lambda w: code("make_sweep_table", *table_modules(w.label)),
    script:
        "../scripts/make_sweep_table.py"


rule draw_sweep:
    input:
        scores=f"{RESULTS}/sweeps/{{sweep}}/scores.parquet",
    output:
        expand(
            f"{RESULTS}/sweeps/{{{{sweep}}}}/figures/points.{{kind}}",
            kind=("svg", "pdf"),
        ),
    log:
        f"{RESULTS}/logs/draw_sweep/{{sweep}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_sweep/{{sweep}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("draw_sweep"),
    params:
        cfg=lambda w: cfg(**drawn_sweep(w)),
        code=lambda w: code(
            "draw_sweep",
            *(f"favor.scores.{family}:METRICS" for family in sweep_families(w.sweep)),
        ),
    script:
        "../scripts/draw_sweep.py"
