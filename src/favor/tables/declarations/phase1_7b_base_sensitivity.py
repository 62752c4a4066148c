"""Another base model by configuration alone: do the methods keep their order on it?"""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="phase1-7b-base-sensitivity",
    title="Base-model sensitivity",
    caption="Sensitivity to the base model: the held-out continuation protocol, adapters, decoding and evaluators of "
    "the main results on another base model. Base only is a non-collaborative reference.",
    rows=method_rows("base_only", "fedavg", "fedprox", "pfedme", "ditto", "favor"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("EER", "generated_eer", "style"),
        Column("Silhouette", "silhouette", "style"),
        Column("Asst.\nScore", "assistant_score"),
        Column("BERTScore", "bertscore_f1"),
        Column("SemSim", "semantic_similarity"),
        Column("MAUVE", "mauve", "semantic"),
        Column("Base model", setting="base_model", wide=True),
    ),
    sources=("prototypes", "verification", "geometry", "assistant", "utility", "mauve"),
    section="Base-model sensitivity",
    paper="Table 9",
)
