"""Component ablations in full: configuration, core metrics and external verification."""

from favor.report.specs import Column, Panel, TableSpec, method_rows


def _configuration(header: str, **answers: bool) -> Column:
    names = {row.method: row.label for row in ROWS}
    return Column(header, fixed={names[key]: "✓" if answer else "✗" for key, answer in answers.items()})


def _external(role: str, name: str) -> tuple[Column, Column]:
    return (
        Column(f"{name}\nAUC", "generated_source_auc", role, direction="up", deviation="stacked"),
        Column(f"{name}\nEER", "generated_source_eer", role, direction="down", deviation="stacked"),
    )


ROWS = method_rows("global_asce", "ditto_asce", "favor_without_asce", "favor")

TABLE = TableSpec(
    label="phase1-ablation-full-meanstd",
    title="Full component-ablation summary",
    caption="Full component-ablation summary. Panel A: component configuration and core metrics; Panel B: same-topic "
    "generated-to-source AUC/EER in spaces that trained no method. Values are mean ± sample standard deviation over "
    "seeds.",
    stub_headers=("Variant",),
    rows=ROWS,
    panels=(
        Panel(
            (
                _configuration("Shared\nagg.", global_asce=True, ditto_asce=True, favor_without_asce=True, favor=True),
                _configuration(
                    "Personal\nbranch", global_asce=False, ditto_asce=True, favor_without_asce=True, favor=True
                ),
                _configuration(
                    "Private\nresidual", global_asce=False, ditto_asce=False, favor_without_asce=True, favor=True
                ),
                _configuration("ASCE\nalign.", global_asce=True, ditto_asce=True, favor_without_asce=False, favor=True),
                Column("Author\nAcc.", "author_accuracy", "style", direction="up", deviation="stacked"),
                Column("Macro-\nF1", "author_macro_f1", "style", direction="up", deviation="stacked"),
                Column("Asst.\nScore", "assistant_score", direction="down", deviation="stacked"),
                Column("BERTScore", "bertscore_f1", direction="up", deviation="stacked"),
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
    paper="L1804-1896",
    open_rows=False,
)
