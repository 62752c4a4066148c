"""Style retention of FAVoR and Ditto over the volume of their clients' text, at fixed compute."""

from favor.tables.specs import POINT, Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="text-volume-sweep",
    title="Compute-normalised text-volume sweep",
    caption="Balanced nested subsets of the clients' texts, at the same optimiser steps; means over seeds.",
    stub_headers=("Allocated word-unit budget",),
    rows=(Row((POINT,)),),
    panels=one_panel(
        Column("Gen–Gen AUC\nFAVoR / Ditto", "generated_auc", "style", method="favor", beside="ditto"),
        Column("EER\nFAVoR / Ditto", "generated_eer", "style", method="favor", beside="ditto"),
        Column("BERTScore\nFAVoR / Ditto", "bertscore_f1", method="favor", beside="ditto", decimals=4),
    ),
    sources=("verification", "utility"),
    section="Data scale and imbalance",
    paper="Table 11",
    open_rows=False,
    with_controls=False,
    over_points=True,
)
