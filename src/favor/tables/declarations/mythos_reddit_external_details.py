"""The second domain in detail: assistant phrases, and how far outputs lie from the authors' own continuations."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="mythos-reddit-external-details",
    title="Detailed Mythos-Reddit diagnostics",
    caption="Detailed Mythos-Reddit diagnostics. Phrase: assistant phrases per 1,000 words; gaps are the outputs' "
    "silhouette and centroid distance minus those of the human continuations of the same prompts. Means over seeds.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Centroid", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("Phrase", "assistant_phrase_rate", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("Gap-\nSilh.", "silhouette_gap", "style", deviation="stacked"),
        Column("Gap-\nCent.", "centroid_gap", "style", deviation="stacked"),
    ),
    sources=("prototypes", "geometry", "assistant", "utility"),
    section="Mythos-Reddit",
    paper="Table 26",
    dataset="Mythos-Reddit",
)
