"""The scale stress test: 100 authors, 20 rounds of 20 clients."""

from favor.tables.specs import Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="k100-scale-stress",
    title="K=100 scale stress test",
    caption="Scale stress test with twice the authors, means over seeds. Marked among the collaborative methods; "
    "local-only is a reference that does not federate. Verification tells "
    "same-author from different-author pairs of generated continuations in the author-disjoint ASCE space.",
    rows=(
        Row(("FedAvg shared",), method="fedavg"),
        Row(("Ditto",), method="ditto"),
        Row(("FAVoR",), method="favor"),
        Row(("Local-only (ref.)",), method="local_only", ranked=False),
    ),
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style", deviation="stacked"),
        Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
        Column("Verif.\nAUC", "generated_auc", "style", deviation="stacked"),
        Column("EER", "generated_eer", "style", deviation="stacked"),
        Column("Centroid\nDist.", "centroid_distance", "style", deviation="stacked"),
        Column("Silhouette", "silhouette", "style", deviation="stacked"),
        Column("SemSim", "semantic_similarity", deviation="stacked"),
        Column("MAUVE", "mauve", "semantic", deviation="stacked"),
    ),
    sources=("prototypes", "verification", "geometry", "utility", "mauve"),
    section="100-author stress test",
    paper="Table 10",
    with_controls=False,
    open_rows=False,
)
