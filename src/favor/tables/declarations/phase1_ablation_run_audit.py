"""What every row ran with: components, their weights, passes over own text, protocol and budget, as resolved."""

from favor.tables.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="phase1-ablation-run-audit",
    title="Component-ablation configuration check",
    caption="Component-ablation configuration check: the values each variant ran with, as resolved. Passes are over a "
    "client's own text at one participation.",
    stub_headers=("Variant",),
    rows=method_rows(
        "global_asce",
        "favor_without_asce",
        "favor",
        "fedavg",
        "fedprox",
        "pfedme",
        "ditto",
        "ditto_asce",
        "feddpa",
        "local_only",
        "local_only_asce",
        "pooled",
        "base_only",
    ),
    panels=(
        Panel(
            (
                Column("Private\nresidual", setting="private_residual"),
                Column("ASCE\nalign.", setting="alignment"),
                Column("Shared\nprox.", setting="proximal"),
            )
        ),
        Panel(
            (
                Column("λ align", setting="lambda_align"),
                Column("λ shared", setting="lambda_shared"),
                Column("λ personal", setting="lambda_personal"),
                Column("Shared\npasses", setting="shared_passes"),
                Column("Personal\npasses", setting="personal_passes"),
                Column("Upload\nscale", setting="upload_scale"),
            ),
            title="Weights and passes",
        ),
        Panel(
            (
                Column("Sampling", setting="sampling"),
                Column("Server\nweights", setting="weighting"),
                Column("Protocol", setting="protocol"),
                Column("Budget", setting="budget"),
            ),
            title="Protocol",
        ),
    ),
    sources=(),
    section="Component ablations",
    paper="Table 31",
    with_controls=False,
)
