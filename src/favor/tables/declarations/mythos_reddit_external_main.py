"""The collaborative methods on a second domain: stories written to prompts."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="mythos-reddit-external-main",
    title="Mythos-Reddit external validation",
    caption="Mythos-Reddit external validation in the space of an encoder trained on other authors of that corpus; AUC "
    "and EER compare generated continuations with each other. Means over seeds.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Centroid", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("AUC", "generated_auc", "style", deviation="stacked"),
        Column("EER", "generated_eer", "style", deviation="stacked"),
        Column("BERTScore", "bertscore_f1", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
    ),
    sources=("prototypes", "geometry", "verification", "utility"),
    section="Mythos-Reddit",
    paper="Table 25",
    dataset="Mythos-Reddit",
)
