"""Additional compact metric view: geometry, assistant register and utility beside recovery."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="phase1-legacy-comparison",
    title="Additional compact metric summary",
    caption="Additional compact metric summary: accuracy, F1, distance between author centroids and silhouette in the "
    "frozen ASCE space, assistant score, likeness to the authors' own continuations. Outputs that pass the quality "
    "filter; means over seeds.",
    rows=method_rows("fedprox", "pooled", "ditto", "local_only_asce", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Centroid", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("Asst.", "assistant_score", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("MAUVE", "mauve", "semantic", deviation="stacked"),
    ),
    sources=("prototypes", "geometry", "assistant", "utility", "mauve"),
    section="External verifiers",
    paper="Table 18",
)
