"""The main text's tables, the qualitative examples beside them, and all metrics at once."""

from dataclasses import replace

from favor.scores.metric import SOURCE
from favor.tables.specs import Column, TableSpec, encoder_rows, method_rows, one_panel

SIGNATURE_SPACE_MAIN = TableSpec(
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
    section="Main text",
    paper="Table 1",
)

MAIN_FEDERATED_RESULTS = TableSpec(
    label="main_federated_results",
    title="Main federated held-out continuation results",
    caption="Main federated held-out continuation results. Accuracy, macro-F1 and verification AUC/EER are computed in "
    "the space of the style encoder: accuracy and F1 by the nearest source-train prototype, AUC/EER on pairs of "
    "generated continuations of the same and of different authors. Survivors only: outputs that pass the quality "
    "filter; failures wrong is the same accuracy over all outputs. For intervals see the table of all methods.",
    rows=method_rows("fedavg", "fedprox", "pfedme", "ditto", "feddpa", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Acc.,\nfailures wrong", "author_accuracy", "style", variant="failures_wrong"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("EER", "generated_eer", "style"),
        Column("BERTScore", "bertscore_f1"),
        Column("SemSim", "semantic_similarity"),
    ),
    section="Main text",
    paper="Table 2",
    sectioned=True,
    dataset="",
    collaborative=True,
)

MAIN_EXTERNAL_VERIFICATION = TableSpec(
    label="phase1-main-external-verification",
    title="External authorship verification",
    caption="Main results with external authorship verification: generated-to-source cosine verification, same-author "
    "pairs against same-topic pairs of different authors, in spaces that no method is aligned to, unless style_encoder "
    "is one. Source texts are held-out human continuations; outputs that pass the quality filter.",
    rows=method_rows("fedprox", "pooled", "ditto", "feddpa", "local_only_asce", "favor"),
    panels=one_panel(
        Column("StyleDist\nAUC", "generated_source_auc", "styledistance"),
        Column("StyleDist\nEER", "generated_source_eer", "styledistance"),
        Column("MiniLM\nAUC", "generated_source_auc", "minilm"),
        Column("Stylom.\nAUC", "generated_source_auc", "stylometry"),
    ),
    section="Main text",
    paper="Table 3",
)

MAIN_RESULTS = TableSpec(
    label="phase1-main-results",
    title="Core component ablations",
    caption="Core component ablations: accuracy and F1 by the nearest source-train prototype in the style encoder's "
    "space, and same-topic generated-to-source verification by StyleDistance. Outputs that pass the quality filter.",
    stub_headers=("Variant",),
    rows=method_rows("global_asce", "ditto_asce", "favor_without_asce", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("BERTScore", "bertscore_f1"),
        Column("StyleDist.\nAUC", "generated_source_auc", "styledistance"),
    ),
    sources=("prototypes", "verification", "utility"),
    section="Main text",
    paper="Table 4",
    open_rows=False,
)

QUALITATIVE_APPENDIX = TableSpec(
    label="qualitative-appendix",
    title="Matched qualitative comparison",
    caption="Not for publication: this table quotes the corpus's authors and models trained on them. Shortened "
    "continuations of the same prompts by every method, drawn with a fixed seed from the outputs that pass the filter "
    "in all of them.",
    stub_headers=("Example", "Method"),
    # favor.tables.quoted_examples repeats these rows for every example and fills the column.
    rows=tuple(
        replace(row, stub=("", *row.stub))
        for row in method_rows("fedavg", "pooled", "fedprox", "ditto", "favor", "local_only_asce")
    ),
    panels=one_panel(Column("Shortened continuation", wide=True)),
    section="Qualitative examples",
    paper="Table 6",
    with_controls=False,
    publishable=False,
)

ALL_METRICS = TableSpec(
    label="all-metrics",
    title="All metrics",
    caption="Every metric of the experiment in its default variant, a panel per metric family and encoder. "
    "Means over seeds.",
    open_rows=False,
    every_metric=True,
)
