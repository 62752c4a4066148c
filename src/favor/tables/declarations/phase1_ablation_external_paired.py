"""Paired external verification of the component ablations."""

from favor.tables.specs import COMPARISON_NOTE, Comparisons, Panel, TableSpec, comparison_columns, comparison_rows

COMPARISONS = Comparisons(
    pairs=(("favor", "favor_without_asce"), ("favor", "global_asce"), ("favor_without_asce", "global_asce")),
    metrics={
        "generated_source_auc": ("styledistance", "minilm", "stylometry"),
        "generated_source_eer": ("styledistance", "minilm", "stylometry"),
    },
)

TABLE = TableSpec(
    label="phase1-ablation-external-paired",
    title="External paired tests of the component ablations",
    caption="Paired tests of the component ablations by same-topic generated-to-source verification in spaces that "
    "trained no method. " + COMPARISON_NOTE,
    stub_headers=("Comparison", "Evaluator", "Metric"),
    rows=comparison_rows(COMPARISONS),
    panels=(Panel(comparison_columns("Left", "Right")),),
    sources=(),
    section="Component ablations",
    paper="Table 30",
    open_rows=False,
    with_controls=False,
    ranked_within="encoder",
    comparisons=COMPARISONS,
)
