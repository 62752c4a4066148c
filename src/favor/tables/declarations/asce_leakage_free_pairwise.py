"""Expanded author-style results in the author-disjoint ASCE space, with pooled and diagnostic references."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="asce-leakage-free-pairwise",
    title="Expanded author-style results",
    caption="Expanded author-style results under the author-disjoint ASCE encoder. Accuracy and F1 use source-train "
    "prototypes; Gen-Gen AUC/EER compare generated continuations of the same and of different authors. Outputs that "
    "pass the quality filter; means over seeds.",
    rows=method_rows(
        "fedavg",
        "fedprox",
        "pfedme",
        "ditto",
        "ditto_asce",
        "pooled",
        "local_only_asce",
        "global_asce",
        "favor_without_asce",
        "favor",
    ),
    panels=one_panel(
        Column("Author Acc.", "author_accuracy", "style", deviation="inline"),
        Column("Macro-F1", "author_macro_f1", "style", deviation="inline"),
        Column("Silhouette", "silhouette", "style", deviation="inline"),
        Column("Gen-Gen AUC", "generated_auc", "style", deviation="inline"),
        Column("Gen-Gen EER", "generated_eer", "style", deviation="inline"),
    ),
    sources=("prototypes", "geometry", "verification"),
    section="Author-disjoint style encoder",
    paper="Table 22",
)
