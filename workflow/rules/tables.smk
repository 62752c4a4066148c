# Tables, figures and the report.


rule make_table:
    input:
        scores=lambda w: [
            f"{RESULTS}/{w.experiment}/scores/{family}.parquet"
            for family in sources_of(w.experiment, w.label)
        ],
        comparisons=lambda w: comparison_files(w.experiment, w.label),
        paper=lambda w: paper_file(w.label),
    output:
        cells=f"{RESULTS}/{{experiment}}/tables/{{label}}.parquet",
        tex=f"{RESULTS}/{{experiment}}/tables/{{label}}.tex",
        html=f"{RESULTS}/{{experiment}}/tables/{{label}}.html",
    log:
        f"{RESULTS}/logs/make_table/{{experiment}}-{{label}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_table/{{experiment}}-{{label}}.tsv"
    wildcard_constraints:
        label=r"(?!qualitative-appendix\.)[a-z][a-z0-9_-]*",
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_table"),
    params:
        cfg=lambda w: cfg(
            **table_context(w.experiment), **printed_settings(w.experiment, w.label)
        ),
        code=lambda w: code("make_table", *table_modules(w.label)),
    script:
        "../scripts/make_table.py"


rule make_excerpts:
    input:
        generations=generation_files,
        prompts=prompt_files,
    output:
        cells=f"{RESULTS}/{{experiment}}/tables/qualitative-appendix.parquet",
        tex=f"{RESULTS}/{{experiment}}/tables/qualitative-appendix.tex",
        html=f"{RESULTS}/{{experiment}}/tables/qualitative-appendix.html",
    log:
        f"{RESULTS}/logs/make_excerpts/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_excerpts/{{experiment}}.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_excerpts"),
    params:
        cfg=lambda w: cfg(**table_context(w.experiment)),
        code=code("make_excerpts", *table_modules("qualitative-appendix")),
    script:
        "../scripts/make_excerpts.py"


rule draw_figure:
    input:
        unpack(figure_inputs),
    output:
        svg=f"{RESULTS}/{{experiment}}/figures/{{figure}}.svg",
        pdf=f"{RESULTS}/{{experiment}}/figures/{{figure}}.pdf",
    log:
        f"{RESULTS}/logs/draw_figure/{{experiment}}-{{figure}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_figure/{{experiment}}-{{figure}}.tsv"
    wildcard_constraints:
        figure="|".join(FIGURES.names()),
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("draw_figure"),
    params:
        cfg=lambda w: cfg(**figure_context(w)),
        code=lambda w: code("draw_figure", f"{FIGURES.module(w.figure)}:FIGURE"),
    script:
        "../scripts/draw_figure.py"


rule draw_overview:
    output:
        expand(
            f"{RESULTS}/figures/{{figure}}.{{kind}}",
            figure=("favor_overview", "pipeline"),
            kind=("svg", "pdf"),
        ),
    log:
        f"{RESULTS}/logs/draw_overview.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_overview.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("draw_overview"),
    params:
        code=code("draw_overview"),
    script:
        "../scripts/draw_overview.py"


rule write_numbers:
    input:
        number_files(),
    output:
        numbers=f"{RESULTS}/numbers.json",
    log:
        f"{RESULTS}/logs/write_numbers.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_numbers.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("write_numbers"),
    params:
        cfg=lambda w: cfg(experiments=number_sources()),
        code=code("write_numbers"),
    script:
        "../scripts/write_numbers.py"


rule report:
    input:
        tables=[
            path
            for path in [*table_targets(), *sweep_table_targets()]
            if path.endswith(".parquet")
        ],
        figures=[*figure_files("svg"), *sweep_figures("svg")],
        overview=f"{RESULTS}/figures/favor_overview.svg",
        numbers=number_targets(),
        dropped=report_inputs("dropped.parquet"),
        roster=report_inputs("roster.parquet"),
        splits=report_inputs("splits.parquet"),
        overlap=report_inputs("overlap.parquet"),
        allocation=expand(
            f"{RESULTS}/{{experiment}}/clients/allocation.parquet",
            experiment=shown_experiments(),
        ),
    output:
        *report_targets(),
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("report"),
    params:
        cfg=lambda w: cfg(
            results=RESULTS,
            experiments=report_settings(),
            order=shown_experiments(),
            sweeps=sweep_settings(),
            accepted=CHANGES.accepted,
        ),
        code=code(
            "report",
            *sorted({module for label in SPECS for module in table_modules(label)}),
            *(f"{FIGURES.module(figure)}:FIGURE" for figure in FIGURES.names()),
        ),
    script:
        "../scripts/report.py"
