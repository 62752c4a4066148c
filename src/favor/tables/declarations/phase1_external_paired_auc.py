"""Paired external verification of FAVoR against the main baselines."""

from favor.tables.specs import COMPARISON_NOTE, Comparisons, Panel, TableSpec, comparison_columns, comparison_rows

COMPARISONS = Comparisons(
    pairs=(("favor", "ditto"), ("favor", "pooled"), ("favor", "fedprox"), ("favor", "feddpa")),
    metrics={
        "generated_source_auc": ("styledistance", "minilm", "stylometry"),
        "generated_source_eer": ("styledistance", "minilm", "stylometry"),
    },
)

TABLE = TableSpec(
    label="phase1-external-paired-auc",
    title="External paired tests of the main comparisons",
    caption="Paired tests of the main comparisons by same-topic generated-to-source verification in spaces that "
    "trained no method. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Evaluator", "Metric"),
    rows=comparison_rows(COMPARISONS),
    panels=(Panel(comparison_columns("FAVoR", "Baseline")),),
    sources=(),
    section="Statistical testing",
    paper="Table 34",
    open_rows=False,
    with_controls=False,
    ranked_within="encoder",
    comparisons=COMPARISONS,
)
