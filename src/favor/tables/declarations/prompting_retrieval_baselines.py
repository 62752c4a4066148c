"""FAVoR beside baselines that train nothing: the base model is told whom to write as."""

from favor.tables.specs import Column, Panel, TableSpec, method_rows

TABLE = TableSpec(
    label="prompting_retrieval_baselines",
    title="Prompting and retrieval baselines",
    caption="Prompting and retrieval baselines. Panel A: what a method uses, its accuracy against source-train "
    "prototypes, and generated-to-source verification in the author-disjoint ASCE space; Panel B: quality, and the "
    "models that continued and that distilled author sheets. Outputs of all prompts; the paper's author-style columns "
    "are of a subset of its outputs.",
    rows=method_rows(
        "favor",
        "average_author",
        "retrieval",
        "sheet_retrieval",
        "sheet_retrieval_without_persona",
        "sheet",
    ),
    panels=(
        Panel(
            (
                Column("FL", setting="federated"),
                Column("Train", setting="trained"),
                Column("Raw\nHist.", setting="raw_history"),
                Column("RAG", setting="retrieval"),
                Column("Distilled\nArtifact", setting="distilled_artifact"),
                Column("Proto.\nAcc.", "author_accuracy", "style"),
                Column("Proto.\nF1", "author_macro_f1", "style"),
                Column("Gen→Src\nAUC", "generated_source_auc", "style"),
                Column("EER", "generated_source_eer", "style"),
                Column("Silh.", "silhouette", "style"),
            ),
            title="Panel A: Configuration and author-style metrics",
        ),
        Panel(
            (
                Column("BERTScore", "bertscore_f1"),
                Column("SemSim", "semantic_similarity"),
                Column("MAUVE", "mauve", "semantic"),
                Column("Model", setting="base_model", wide=True),
                Column("Sheet by", setting="sheet_model", wide=True),
            ),
            title="Panel B: Continuation-quality metrics",
        ),
    ),
    sources=("prototypes", "verification", "geometry", "utility", "mauve"),
    section="Prompting and retrieval baselines",
    paper="Table 7",
    open_rows=False,
)
