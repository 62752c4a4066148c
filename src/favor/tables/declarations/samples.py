"""Several samples of every prompt: how different they are, and what the other measures make of them."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="samples",
    title="Sampled continuations",
    caption="Scores over all samples of every prompt. Distinct-k counts the classes of a prompt's samples, of which "
    "there are at most as many as samples. A greedy method has one sample and a dash.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        Column("Distinct-k", "distinct_samples", decimals=2),
        Column("Bigram\noverlap", "sample_overlap"),
        Column("Author\nacc.", "author_accuracy", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("Target\nsim.", "target_similarity", "style"),
        Column("SemSim", "semantic_similarity"),
        Column("Pass\nrate", "pass_rate"),
    ),
    sources=("samples", "prototypes", "verification", "utility", "quality"),
    section="Voice kept, diversity and copying",
)
