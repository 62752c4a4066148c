"""Paired tests of FAVoR against the main baselines on matched outputs."""

from favor.tables.specs import COMPARISON_NOTE, Comparisons, Panel, TableSpec, comparison_columns, comparison_rows

COMPARISONS = Comparisons(
    pairs=(("favor", "ditto"), ("favor", "pooled"), ("favor", "fedprox"), ("favor", "feddpa")),
    metrics={
        "author_accuracy": ("style",),
        "top1_cosine": ("style",),
        "semantic_similarity": ("style",),
        "bertscore_f1": ("style",),
        "assistant_score": ("style",),
    },
    exact=("author_accuracy",),
)

TABLE = TableSpec(
    label="phase1-paired-significance",
    title="Paired tests of the main comparisons",
    caption="Paired tests on outputs that survive in both methods; p is McNemar's for author accuracy and the "
    "sign-flip test's over seed-author pairs for the other metrics. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Metric"),
    rows=comparison_rows(COMPARISONS),
    panels=(Panel(comparison_columns("FAVoR", "Baseline", with_n=True)),),
    sources=(),
    section="Statistical testing",
    paper="Table 33",
    open_rows=False,
    with_controls=False,
    ranked_within="encoder",
    comparisons=COMPARISONS,
)
