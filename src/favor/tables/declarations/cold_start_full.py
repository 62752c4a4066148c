"""Cold start in full: every variant, over the number of texts an author has."""

from favor.tables.specs import POINT, Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="cold-start-full",
    title="Cold start of unseen authors in full",
    caption="Unseen authors after private adaptation to K texts of each; prototypes of the same K texts, in a style "
    "space that was trained without them. Means over seeds.",
    stub_headers=("Method", "K"),
    rows=(
        Row(("Base model, no adaptation", POINT), method="base_only"),
        Row(("FAVoR shared init + private residual (ASCE)", POINT), method="cold_start_asce"),
        Row(("FAVoR shared init + private residual (no ASCE)", POINT), method="cold_start"),
        Row(("Local-only + ASCE from base", POINT), method="local_only_asce"),
        Row(("Local-only from base", POINT), method="local_only"),
        Row(("Random shared init + private residual", POINT), method="cold_start_random"),
        Row(("Shared only, no private residual", POINT), method="cold_start_shared"),
    ),
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Target\nSim.", "target_similarity", "style"),
        Column("Copy-5", "copy5"),
        Column("SemSim", "semantic_similarity"),
        Column("BERTScore", "bertscore_f1"),
        Column("MAUVE", "mauve", "semantic"),
    ),
    sources=("prototypes", "copying", "utility", "mauve"),
    section="Cold-start details",
    paper="Table 13",
    open_rows=False,
    with_controls=False,
    ranked_within="point",
    over_points=True,
)
