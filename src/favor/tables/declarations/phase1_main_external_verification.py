"""External authorship verification: generated against held-out human text, in spaces that trained no method."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="phase1-main-external-verification",
    title="External authorship verification",
    caption="Main results with external authorship verification: generated-to-source cosine verification, same-author "
    "pairs against same-topic pairs of different authors, in spaces that trained no method. Source texts are held-out "
    "human continuations; outputs that pass the quality filter.",
    rows=method_rows("fedprox", "pooled", "ditto", "feddpa", "local_only_asce", "favor"),
    panels=one_panel(
        Column("StyleDist\nAUC", "generated_source_auc", "styledistance"),
        Column("StyleDist\nEER", "generated_source_eer", "styledistance"),
        Column("MiniLM\nAUC", "generated_source_auc", "minilm"),
        Column("Stylom.\nAUC", "generated_source_auc", "stylometry"),
    ),
    sources=("verification",),
    section="Main text",
    paper="Table 3",
)
