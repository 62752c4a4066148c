"""Another base model by configuration alone: do the methods keep their order on it?"""

from favor.report.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="phase1-7b-base-sensitivity",
    title="Base-model sensitivity",
    caption="Sensitivity to the base model: the held-out continuation protocol, adapters, decoding and evaluators of "
    "the main results on another base model. Base only is a non-collaborative reference.",
    rows=method_rows("base_only", "fedavg", "fedprox", "pfedme", "ditto", "favor"),
    panels=(
        Panel(
            (
                Column("Author\nAcc.", "author_accuracy", "style", direction="up"),
                Column("Macro-\nF1", "author_macro_f1", "style", direction="up"),
                Column("Verif.\nAUC", "generated_auc", "style", direction="up"),
                Column("EER", "generated_eer", "style", direction="down"),
                Column("Silhouette", "silhouette", "style", direction="up"),
                Column("Asst.\nScore", "assistant_score", direction="down"),
                Column("BERTScore", "bertscore_f1", direction="up"),
                Column("SemSim", "semantic_similarity", direction="up"),
                Column("MAUVE", "mauve", "semantic", direction="up"),
                Column("Base model", setting="base_model", wide=True),
            )
        ),
    ),
    sources=("prototypes", "verification", "geometry", "assistant", "utility", "mauve"),
    paper="L945-970",
)
