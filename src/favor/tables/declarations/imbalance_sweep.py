"""Style retention of FAVoR and Ditto as the clients' shares of one total become unequal, at fixed compute."""

from favor.tables.specs import POINT, Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="imbalance-sweep",
    title="Author-data imbalance",
    caption="Balanced, moderate and strong allocations of exactly the same number of words to the same authors, at the "
    "same optimiser steps; means over seeds, Δ = FAVoR − Ditto.",
    stub_headers=("Allocation",),
    rows=(Row((POINT,)),),
    panels=one_panel(
        Column("Gen–Gen AUC\nFAVoR / Ditto (Δ)", "generated_auc", "style", "favor", beside="ditto", signed=True),
        Column("EER\nFAVoR / Ditto (Δ)", "generated_eer", "style", "favor", beside="ditto", signed=True),
        Column("BERTScore\nFAVoR / Ditto", "bertscore_f1", method="favor", beside="ditto", decimals=4),
    ),
    sources=("verification", "utility"),
    section="Data scale and imbalance",
    paper="Table 12",
    open_rows=False,
    with_controls=False,
    over_points=True,
)
