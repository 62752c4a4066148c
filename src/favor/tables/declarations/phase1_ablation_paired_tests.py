"""Paired tests of the component ablations on matched outputs."""

from favor.tables.specs import COMPARISON_NOTE, Comparisons, Panel, TableSpec, comparison_columns, comparison_rows

COMPARISONS = Comparisons(
    pairs=(("favor", "favor_without_asce"), ("favor", "global_asce"), ("favor_without_asce", "global_asce")),
    metrics={
        "author_accuracy": ("style",),
        "top1_cosine": ("style",),
        "assistant_score": ("style",),
        "bertscore_f1": ("style",),
        "semantic_similarity": ("style",),
    },
    exact=("author_accuracy", "top1_cosine", "assistant_score", "bertscore_f1", "semantic_similarity"),
)

TABLE = TableSpec(
    label="phase1-ablation-paired-tests",
    title="Paired component-ablation tests",
    caption="Paired component-ablation tests on outputs that survive in both methods; p is McNemar's for author "
    "accuracy and Wilcoxon's for the other metrics. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Metric"),
    rows=comparison_rows(COMPARISONS),
    panels=(Panel(comparison_columns("Left", "Right")),),
    sources=(),
    section="Component ablations",
    paper="Table 29",
    open_rows=False,
    with_controls=False,
    ranked_within="encoder",
    comparisons=COMPARISONS,
)
