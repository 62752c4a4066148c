"""Source-space diagnostics at native dimension, with author and topic discriminability."""

from favor.scores.metric import SOURCE
from favor.tables.specs import Column, TableSpec, encoder_rows, one_panel

TABLE = TableSpec(
    label="signature-space-native",
    title="Native-dimensional source-space diagnostics",
    caption="Native-dimensional source-space diagnostics of human text. A class-balanced logistic-regression probe "
    "(accuracy, macro-F1 on test texts), variance explained by author within topics and by topic (ω², mean over "
    "coordinates; A/T is their ratio), cosine verification of same-author against same-topic different-author pairs of "
    "test texts.",
    stub_headers=("Representation space",),
    rows=encoder_rows(
        SOURCE,
        roberta="RoBERTa-base",
        styledistance="StyleDistance",
        luar="LUAR-MUD doc1",
        star="STAR",
        style="ASCE Author-Style Signature Space",
    )
    + encoder_rows(SOURCE, optional=True, minilm="MiniLM", stylometry="Stylometry"),
    panels=one_panel(
        Column("Dim.", "dimension", decimals=0),
        Column("Author\nAcc.", "probe_accuracy"),
        Column("Macro-\nF1", "probe_macro_f1"),
        Column("Author-in-topic\nω²", "author_effect", decimals=4),
        Column("Topic\nω²", "topic_effect", decimals=4),
        Column("A/T\nratio", "effect_ratio", decimals=2),
        Column("Strict\nAUC", "source_auc"),
        Column("EER", "source_eer"),
    ),
    sources=("source_space",),
    section="Source-space controls",
    paper="Table 8",
    open_rows=False,
    with_controls=False,
)
