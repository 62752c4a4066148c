"""Cold start over nested sets of texts: what the shared initialisation adds to local training, with intervals."""

from favor.tables.specs import POINT, Column, Comparisons, Row, TableSpec, one_panel

COMPARISONS = Comparisons(
    pairs=(("cold_start", "local_only"),),
    metrics={"author_accuracy": ("style",), "fixed_accuracy": ("style",), "fixed_margin": ("style",)},
)

TABLE = TableSpec(
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
    sources=("cold_start", "prototypes"),
    section="Cold-start details",
    paper="Table 14",
    open_rows=False,
    with_controls=False,
    comparisons=COMPARISONS,
    over_points=True,
)
