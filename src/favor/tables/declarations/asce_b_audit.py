"""The same generations judged by an independently trained style encoder."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="asce-b-audit",
    title="Independent ASCE-B re-evaluation",
    caption="Post-hoc evaluation under an independently trained ASCE-B, whose authors no other encoder and no client "
    "has; generations and pairs are those of the other tables. Means over seeds.",
    stub_headers=("Collaborative method",),
    rows=method_rows("favor", "favor_without_asce", "ditto", "feddpa", "pfedme", "fedavg", "fedprox"),
    panels=one_panel(
        Column(
            "Source-prototype\nAcc.",
            "author_accuracy",
            "independent",
            deviation="inline",
        ),
        Column("Gen→Src\nAUC", "generated_source_auc", "independent", deviation="inline"),
    ),
    sources=("prototypes", "verification"),
    section="Author-disjoint style encoder",
    paper="Table 23",
    collaborative=True,
)
