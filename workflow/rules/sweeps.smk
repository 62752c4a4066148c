# Sweeps: the scores of several experiments side by side, and the tables and figures over them.


rule collect_sweep:
    input:
        scores=sweeps.scores,
    output:
        scores=paths.sweep_scores,
    script:
        "../scripts/collect_sweep.py"


rule make_sweep_table:
    input:
        scores=paths.sweep_scores,
        comparisons=sweeps.comparisons,
        evidence=sweeps.evidence,
        retrieval=sweeps.retrieval,
        prompts=sweeps.prompts,
        paper=tables.paper_values,
    output:
        cells=paths.sweep_table.partial(kind="parquet"),
        tex=paths.sweep_table.partial(kind="tex"),
        html=report(
            paths.sweep_table.partial(kind="html"),
            caption="../report/sweep.rst",
            category="Tables",
            subcategory="{sweep}",
            labels=tables.labels,
        ),
    script:
        "../scripts/make_sweep_table.py"


rule draw_sweep:
    input:
        scores=paths.sweep_scores,
    output:
        expand(paths.sweep_figure, kind=("svg", "pdf", "csv"), allow_missing=True),
    script:
        "../scripts/draw_sweep.py"
