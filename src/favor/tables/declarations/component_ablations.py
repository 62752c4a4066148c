"""Component ablations: their scores, and what every variant ran with."""

from favor.tables.specs import Column, TableSpec, method_rows, panel


def _external(role: str, name: str) -> tuple[Column, Column]:
    return (
        Column(f"{name}\nAUC", "generated_source_auc", role, deviation="stacked"),
        Column(f"{name}\nEER", "generated_source_eer", role, deviation="stacked"),
    )


ABLATION_FULL_MEANSTD = TableSpec(
    label="phase1-ablation-full-meanstd",
    title="Full component-ablation summary",
    caption="Full component-ablation summary. Panel A: components as each variant ran, and core metrics in the "
    "style encoder's space; Panel B: generated-to-source AUC/EER, same-author pairs against same-topic pairs of "
    "different authors, in spaces that no method is aligned to, unless style_encoder is one. Means over seeds.",
    stub_headers=("Variant",),
    rows=method_rows("global_asce", "ditto_asce", "favor_without_asce", "favor"),
    panels=(
        panel(
            "Panel A: Component configuration and core metrics",
            Column("Shared\nagg.", setting="shared_aggregation"),
            Column("Personal\nbranch", setting="personal_branch"),
            Column("Private\nresidual", setting="private_residual"),
            Column("ASCE\nalign.", setting="alignment"),
            Column("Author\nAcc.", "author_accuracy", "style", deviation="stacked"),
            Column("Macro-\nF1", "author_macro_f1", "style", deviation="stacked"),
            Column("Asst.\nScore", "assistant_score", deviation="stacked"),
            Column("BERTScore", "bertscore_f1", deviation="stacked"),
        ),
        panel(
            "Panel B: ASCE-independent external verification",
            *_external("styledistance", "StyleDistance"),
            *_external("minilm", "MiniLM"),
            *_external("stylometry", "Stylometry"),
        ),
    ),
    sources=("prototypes", "verification", "assistant", "utility"),
    section="Component ablations",
    paper="Table 28",
    open_rows=False,
)

ABLATION_RUN_AUDIT = TableSpec(
    label="phase1-ablation-run-audit",
    title="Component-ablation configuration check",
    caption="Component-ablation configuration check: the values each variant ran with, as resolved. Passes are over a "
    "client's own text at one participation.",
    stub_headers=("Variant",),
    rows=method_rows(
        *("global_asce", "favor_without_asce", "favor", "fedavg", "fedprox", "pfedme", "ditto", "ditto_asce"),
        *("feddpa", "local_only", "local_only_asce", "pooled", "base_only"),
    ),
    panels=(
        panel(
            "",
            Column("Private\nresidual", setting="private_residual"),
            Column("ASCE\nalign.", setting="alignment"),
            Column("Shared\nprox.", setting="proximal"),
        ),
        panel(
            "Weights and passes",
            Column("λ align", setting="lambda_align"),
            Column("λ shared", setting="lambda_shared"),
            Column("λ personal", setting="lambda_personal"),
            Column("Shared\npasses", setting="shared_passes"),
            Column("Personal\npasses", setting="personal_passes"),
            Column("Upload\nscale", setting="upload_scale"),
        ),
        panel(
            "Protocol",
            Column("Sampling", setting="sampling"),
            Column("Server\nweights", setting="weighting"),
            Column("Protocol", setting="protocol"),
            Column("Budget", setting="budget"),
        ),
    ),
    section="Component ablations",
    paper="Table 31",
    with_controls=False,
)
