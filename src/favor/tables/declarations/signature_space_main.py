"""Source-space diagnostics of the representations, without any generation."""

from favor.scores.metric import SOURCE
from favor.tables.specs import Column, TableSpec, encoder_rows, one_panel

TABLE = TableSpec(
    label="signature-space-main",
    title="Source-space representation diagnostics",
    caption="Compact source-space representation diagnostics on the clients' human test texts: class-balanced "
    "logistic-regression probe (accuracy, macro-F1) and cosine verification of same-author against same-topic "
    "different-author pairs (AUC, EER).",
    stub_headers=("Representation",),
    rows=encoder_rows(SOURCE, roberta="RoBERTa", styledistance="StyleDist.", luar="LUAR", star="STAR", style="ASCE")
    + encoder_rows(SOURCE, optional=True, minilm="MiniLM", stylometry="Stylometry"),
    panels=one_panel(
        Column("Acc.", "probe_accuracy"),
        Column("F1", "probe_macro_f1"),
        Column("AUC", "source_auc"),
        Column("EER", "source_eer"),
    ),
    sources=("source_space",),
    section="Main text",
    paper="Table 1",
    open_rows=False,
    with_controls=False,
)
