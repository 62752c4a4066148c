"""Generated continuations against source-train prototypes and source texts, in the author-disjoint ASCE space."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="asce-leakage-free-gensource",
    title="Generated-to-source ASCE results",
    caption="Generated-to-source ASCE results with the author-disjoint encoder, whose classifier head is not used: "
    "nearest source-train prototype, and same-author against same-topic different-author pairs of an output and a "
    "held-out human continuation. Accuracy and F1 are those of the expanded author-style table: the paper defines both "
    "alike and prints other values here. Outputs that pass the quality filter; means over seeds.",
    rows=method_rows(
        "fedavg",
        "fedprox",
        "pfedme",
        "ditto",
        "pooled",
        "local_only_asce",
        "global_asce",
        "ditto_asce",
        "favor_without_asce",
        "favor",
    ),
    panels=one_panel(
        Column("Seeds", "@seeds", "style", decimals=0),
        Column("Proto. Acc.", "author_accuracy", "style", deviation="inline"),
        Column("Proto. F1", "author_macro_f1", "style", deviation="inline"),
        Column("Gen→Src\nAUC", "generated_source_auc", "style", deviation="inline"),
        Column("Gen→Src\nEER", "generated_source_eer", "style", deviation="inline"),
    ),
    sources=("prototypes", "verification"),
    section="Author-disjoint style encoder",
    paper="Table 21",
)
