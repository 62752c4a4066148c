# Tables, figures and the report.

from favor.plan.figures import OVERVIEWS


rule make_table:
    input:
        unpack(or_stop(tables.make_table_inputs)),
    output:
        cells=paths.table.partial(kind="parquet"),
        tex=paths.table.partial(kind="tex"),
        html=report(
            paths.table.partial(kind="html"),
            caption="../report/table.rst",
            category="Tables",
            subcategory="{experiment}",
            labels=tables.labels,
        ),
    wildcard_constraints:
        label=r"(?!qualitative-appendix\.)[a-z][a-z0-9_-]*",
    script:
        "../scripts/make_table.py"


rule make_excerpts:
    input:
        generations=evaluation.generations,
        prompts=project.prompts,
    output:
        cells=paths.table.partial(kind="parquet", label="qualitative-appendix"),
        tex=paths.table.partial(kind="tex", label="qualitative-appendix"),
        html=paths.table.partial(kind="html", label="qualitative-appendix"),
    script:
        "../scripts/make_excerpts.py"


rule make_gallery:
    input:
        unpack(evaluation.make_gallery_inputs),
    output:
        gallery=paths.gallery,
        sample=paths.gallery_sample,
    script:
        "../scripts/make_gallery.py"


rule draw_figure:
    input:
        unpack(figures.draw_figure_inputs),
    output:
        svg=report(
            paths.figure.partial(kind="svg"),
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{experiment}",
            labels=figures.labels,
        ),
        pdf=paths.figure.partial(kind="pdf"),
        drawn=paths.figure.partial(kind="csv"),
    wildcard_constraints:
        figure=figures.names,
    script:
        "../scripts/draw_figure.py"


rule draw_overview:
    output:
        expand(paths.overview, figure=OVERVIEWS, kind=("svg", "pdf")),
    script:
        "../scripts/draw_overview.py"


rule write_numbers:
    input:
        publication.number_files,
    output:
        numbers=paths.numbers,
        macros=paths.number_macros,
    script:
        "../scripts/write_numbers.py"


rule report:
    input:
        publication.report_inputs,
    output:
        **{
            kind: report(
                path,
                caption=f"../report/{kind}.rst",
                category="Report",
                labels={"report": {"html": "Page", "pdf": "Print", "card": "One page"}[kind]},
            )
            for kind, path in publication.report_files().items()
        },
    params:
        cfg=lambda w: publication.report_settings(w, changes.accepted),
    script:
        "../scripts/report.py"
