# Sweeps: the scores of several experiments side by side, and the tables and figures over them.


rule collect_sweep:
    input:
        unpack(sweeps.collect_sweep_inputs),
    output:
        scores=paths.sweep_scores,
    script:
        "../scripts/collect_sweep.py"


rule make_sweep_table:
    input:
        unpack(sweeps.make_sweep_table_inputs),
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
