"""The paper's main table: collaborative methods, one section per corpus."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="main_federated_results",
    title="Main federated held-out continuation results",
    caption="Main federated held-out continuation results. Accuracy, macro-F1 and verification AUC/EER are computed in "
    "the frozen author-disjoint ASCE space: accuracy and F1 by the nearest source-train prototype, AUC/EER on pairs of "
    "generated continuations of the same and of different authors. Survivors only: outputs that pass the quality "
    "filter; failures wrong is the same accuracy over all outputs. These numbers have no intervals; the table of all "
    "methods gives the voice kept with them, where it is measured.",
    stub_headers=("Method",),
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
    sources=("prototypes", "verification", "utility"),
    section="Main text",
    paper="Table 2",
    sectioned=True,
    dataset="",
    collaborative=True,
)
