"""Component ablations in full: configuration, core metrics and external verification."""

from favor.tables.specs import Column, Panel, TableSpec, method_rows


def _external(role: str, name: str) -> tuple[Column, Column]:
    return (
        Column(f"{name}\nAUC", "generated_source_auc", role, deviation="stacked"),
        Column(f"{name}\nEER", "generated_source_eer", role, deviation="stacked"),
    )


TABLE = TableSpec(
    label="phase1-ablation-full-meanstd",
    title="Full component-ablation summary",
    caption="Full component-ablation summary. Panel A: components as each variant ran, and core metrics in the frozen "
    "author-disjoint ASCE space; Panel B: generated-to-source AUC/EER, same-author pairs against same-topic pairs of "
    "different authors, in spaces that trained no method. Means over seeds.",
    stub_headers=("Variant",),
    rows=method_rows("global_asce", "ditto_asce", "favor_without_asce", "favor"),
    panels=(
        Panel(
            (
                Column("Shared\nagg.", setting="shared_aggregation"),
                Column("Personal\nbranch", setting="personal_branch"),
                Column("Private\nresidual", setting="private_residual"),
                Column("ASCE\nalign.", setting="alignment"),
                Column("Author\nAcc.", "author_accuracy", "style", deviation="stacked"),
                Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
                Column("Asst.\nScore", "assistant_score", deviation="stacked"),
                Column("BERTScore", "bertscore_f1", deviation="stacked"),
            ),
            title="Panel A: Component configuration and core metrics",
        ),
        Panel(
            (
                *_external("styledistance", "StyleDistance"),
                *_external("minilm", "MiniLM"),
                *_external("stylometry", "Stylometry"),
            ),
            title="Panel B: ASCE-independent external verification",
        ),
    ),
    sources=("prototypes", "verification", "assistant", "utility"),
    section="Component ablations",
    paper="Table 28",
    open_rows=False,
)
