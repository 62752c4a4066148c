# Tables, figures and the report.

from favor.plan.figures import OVERVIEWS


rule make_table:
    input:
        scores=or_stop(tables.scores),
        comparisons=tables.comparisons,
        evidence=tables.evidence,
        retrieval=tables.retrieval,
        paper=tables.paper_values,
        prompts=tables.prompts,
    output:
        cells=paths.table.where(kind="parquet"),
        tex=paths.table.where(kind="tex"),
        html=report(
            paths.table.where(kind="html"),
            caption="../report/table.rst",
            category="Tables",
            subcategory="{experiment}",
            labels=tables.labels,
        ),
    log:
        paths.log("make_table"),
    benchmark:
        paths.benchmark("make_table")
    wildcard_constraints:
        label=r"(?!qualitative-appendix\.)[a-z][a-z0-9_-]*",
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_table"),
    params:
        cfg=tables.table_settings,
        code=lambda w: code("make_table", *tables.code(w.label)),
    script:
        "../scripts/make_table.py"


rule make_excerpts:
    input:
        generations=evaluation.generations,
        prompts=evaluation.prompts,
    output:
        cells=paths.table.where(kind="parquet", label="qualitative-appendix"),
        tex=paths.table.where(kind="tex", label="qualitative-appendix"),
        html=paths.table.where(kind="html", label="qualitative-appendix"),
    log:
        paths.log("make_excerpts"),
    benchmark:
        paths.benchmark("make_excerpts")
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("make_excerpts"),
    params:
        cfg=tables.excerpt_settings,
        code=code("make_excerpts", *tables.code("qualitative-appendix")),
    script:
        "../scripts/make_excerpts.py"


rule make_gallery:
    input:
        generations=evaluation.generations,
        prompts=evaluation.prompts,
        sources=evaluation.style_sources,
        golds=evaluation.style_golds,
        embeddings=evaluation.style_generations,
    output:
        gallery=paths.gallery,
    log:
        paths.log("make_gallery"),
    benchmark:
        paths.benchmark("make_gallery")
    conda:
        "../../envs/models.yaml"
    resources:
        **asks("make_gallery"),
    params:
        cfg=evaluation.gallery_settings,
        code=code("make_gallery"),
    script:
        "../scripts/make_gallery.py"


rule draw_figure:
    input:
        unpack(figures.inputs),
    output:
        svg=report(
            paths.figure.where(kind="svg"),
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{experiment}",
            labels=figures.labels,
        ),
        pdf=paths.figure.where(kind="pdf"),
        drawn=paths.figure.where(kind="csv"),
    log:
        paths.log("draw_figure"),
    benchmark:
        paths.benchmark("draw_figure")
    wildcard_constraints:
        figure=figures.names,
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("draw_figure"),
    params:
        cfg=figures.settings,
        code=lambda w: code("draw_figure", figures.code(w)),
    script:
        "../scripts/draw_figure.py"


rule draw_overview:
    output:
        expand(paths.overview, figure=OVERVIEWS, kind=("svg", "pdf")),
    log:
        paths.log("draw_overview"),
    benchmark:
        paths.benchmark("draw_overview")
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
        publication.number_files,
    output:
        numbers=paths.numbers,
        macros=paths.number_macros,
    log:
        paths.log("write_numbers"),
    benchmark:
        paths.benchmark("write_numbers")
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("write_numbers"),
    params:
        cfg=publication.number_settings,
        code=code("write_numbers"),
    script:
        "../scripts/write_numbers.py"


rule report:
    input:
        tables=publication.report_tables,
        figures=publication.report_figures,
        overview=paths.overview.of(figure="favor_overview", kind="svg"),
        numbers=paths.numbers,
        evidence=publication.evidence,
        dropped=publication.dropped,
        scripts=publication.scripts,
        author_measures=publication.author_measures,
        roster=publication.rosters,
        splits=publication.splits,
        overlap=publication.overlaps,
        near_duplicates=publication.near_duplicates,
        allocation=publication.allocations,
        prompts=publication.prompts,
    output:
        **{
            kind: report(
                path,
                caption=f"../report/{kind}.rst",
                category="Report",
                labels={"report": {"html": "Page", "pdf": "Print"}[kind]},
            )
            for kind, path in publication.report_files().items()
        },
    log:
        paths.log("report"),
    benchmark:
        paths.benchmark("report")
    conda:
        "../../envs/report.yaml"
    resources:
        **asks("report"),
    params:
        cfg=lambda w: publication.report_settings(w) | {"accepted": changes.accepted},
        code=code("report", *publication.report_code()),
    script:
        "../scripts/report.py"
