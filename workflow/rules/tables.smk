# Tables, figures and the report.

from favor.plan.figures import OVERVIEWS


rule make_table:
    input:
        scores=or_stop(tables.scores),
        comparisons=tables.comparisons,
        evidence=tables.evidence,
        retrieval=tables.retrieval,
        paper=tables.paper_values,
        prompts=project.prompts,
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
        **evaluation.outputs_in(project.style_encoder),
    output:
        gallery=paths.gallery,
        sample=paths.gallery_sample,
    script:
        "../scripts/make_gallery.py"


rule draw_figure:
    input:
        unpack(figures.inputs),
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
        tables=publication.report_tables,
        figures=publication.report_figures,
        overview=paths.overview.of(figure="favor_overview", kind="svg"),
        numbers=paths.numbers,
        evidence=publication.evidence,
        samples=lambda w: paths.gallery_sample.each(experiment=evaluation.galleries()),
        dropped=lambda w: paths.dropped.each(w, corpus=publication.corpora(w)),
        scripts=lambda w: paths.scripts.each(w, corpus=publication.corpora(w)),
        author_measures=lambda w: paths.author_measures.each(w, corpus=publication.corpora(w)),
        roster=lambda w: paths.roster.each(w, corpus=publication.corpora(w)),
        splits=lambda w: paths.splits.each(w, corpus=publication.corpora(w)),
        overlap=lambda w: paths.overlap.each(w, corpus=publication.corpora(w)),
        near_duplicates=publication.near_duplicates,
        allocation=publication.allocations,
        prompts=publication.prompts,
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
