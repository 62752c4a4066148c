"""Cold start at eight texts an author: does a federated adapter help authors who took no part in it?"""

from favor.tables.specs import Column, Row, TableSpec, one_panel

TABLE = TableSpec(
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
    panels=one_panel(
        Column("Sep.\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Target\nSim.", "target_similarity", "style"),
    ),
    sources=("prototypes",),
    section="Main text",
    paper="Table 5",
    open_rows=False,
)
