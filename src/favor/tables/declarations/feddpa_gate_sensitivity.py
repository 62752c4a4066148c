"""FedDPA with its exported mean gate against the gate it was trained with, computed for every prompt."""

from favor.tables.specs import Column, Row, TableSpec, one_panel

TABLE = TableSpec(
    label="feddpa-gate-sensitivity",
    title="FedDPA gate sensitivity",
    caption="FedDPA gate sensitivity: the exported mean gate of each client against the dynamic gate of every prompt, "
    "same adapters and prompts, all seeds (the paper: 100 prompts of one seed). AUC and EER are of generated pairs; "
    "outputs that pass the quality filter under each gate.",
    stub_headers=("Metric",),
    rows=(
        Row(("Author Acc.",), metric="author_accuracy", encoder="style"),
        Row(("Macro-F1",), metric="author_macro_f1", encoder="style"),
        Row(("Verif. AUC",), metric="generated_auc", encoder="style"),
        Row(("EER",), metric="generated_eer", encoder="style"),
        Row(("BERTScore",), metric="bertscore_f1", decimals=4),
        Row(("SemSim",), metric="semantic_similarity", decimals=4),
        Row(("Asst. score",), metric="assistant_score", decimals=4),
    ),
    panels=one_panel(
        Column("Summary\ngate", method="feddpa"),
        Column("Dynamic\ngate", method="feddpa_dynamic"),
        Column(
            "Dynamic −\nsummary",
            method="feddpa_dynamic",
            minus="feddpa",
            signed=True,
            paper="Dynamic - summary",
        ),
    ),
    sources=("prototypes", "verification", "utility", "assistant"),
    section="FedDPA gates",
    paper="Table 27",
    open_rows=False,
    with_controls=False,
)
