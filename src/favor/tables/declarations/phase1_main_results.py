"""Core component ablations: what alignment and the shared-private residual each bring."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="phase1-main-results",
    title="Core component ablations",
    caption="Core component ablations: accuracy and F1 by the nearest source-train prototype in the frozen ASCE space, "
    "and same-topic generated-to-source verification by StyleDistance. Outputs that pass the quality filter.",
    stub_headers=("Variant",),
    rows=method_rows("global_asce", "ditto_asce", "favor_without_asce", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("BERTScore", "bertscore_f1"),
        Column("StyleDist.\nAUC", "generated_source_auc", "styledistance"),
    ),
    sources=("prototypes", "verification", "utility"),
    section="Main text",
    paper="Table 4",
    open_rows=False,
)
