"""Cold start: what a federated adapter brings to authors who took no part in it."""

from favor.tables.specs import POINT, Column, Comparisons, Row, TableSpec, one_panel

_SEPARATION = (
    Column("Sep.\nAcc.", "author_accuracy", "style"),
    Column("Macro-\nF1", "author_macro_f1", "style"),
    Column("Target\nSim.", "target_similarity", "style"),
)
COLD_START_MAIN = TableSpec(
    label="cold-start-main",
    title="Cold start of unseen authors",
    caption="Author separability of unseen authors after private adaptation to a few texts, without style alignment; "
    "prototypes of the same texts. In the paper K=8.",
    rows=(
        Row(("Shared only",), method="cold_start_shared"),
        Row(("Random shared init + private",), method="cold_start_random"),
        Row(("Local-only from base",), method="local_only"),
        Row(("FAVoR shared init + private",), method="cold_start"),
    ),
    panels=one_panel(*_SEPARATION),
    section="Main text",
    paper="Table 5",
    open_rows=False,
)

COLD_START_FULL = TableSpec(
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
        *_SEPARATION,
        Column("Copy-5", "copy5"),
        Column("SemSim", "semantic_similarity"),
        Column("BERTScore", "bertscore_f1"),
        Column("MAUVE", "mauve", "semantic"),
    ),
    section="Cold-start details",
    paper="Table 13",
    ranked_within="point",
    over_points=True,
)

COMPARISONS = Comparisons(
    pairs=(("cold_start", "local_only"),),
    metrics={"author_accuracy": ("style",), "fixed_accuracy": ("style",), "fixed_margin": ("style",)},
)

COLD_START_NESTED_K = TableSpec(
    label="cold-start-nested-k",
    title="Nested cold-start K-sweep",
    caption="Δ = FAVoR's shared initialisation with private residual minus local-only, both without style alignment, "
    "on outputs that survive in both; smaller K use some of the texts of larger K. Fixed: prototypes of texts "
    "that are set aside; m: similarity to the target author minus the mean similarity to the others. 95 % intervals "
    "over authors.",
    stub_headers=("K",),
    rows=(Row((POINT,), method="cold_start", encoder="style", rival="local_only"),),
    panels=one_panel(
        Column("Fixed Δ Acc.\n[95% CI]", "fixed_accuracy", statistic="author_delta_interval"),
        Column("Fixed Δ m\n[95% CI]", "fixed_margin", statistic="author_delta_interval"),
        Column("K-shot Δ Acc.\n[95% CI]", "author_accuracy", statistic="author_delta_interval"),
    ),
    section="Cold-start details",
    paper="Table 14",
    comparisons=COMPARISONS,
    over_points=True,
)
