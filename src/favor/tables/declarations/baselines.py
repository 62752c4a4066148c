"""FAVoR beside baselines that train nothing and beside rivals, FedDPA's gates, and what every method costs."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Row, TableSpec, Unit, method_rows, one_panel, panel

PROMPTING_RETRIEVAL_BASELINES = TableSpec(
    label="prompting_retrieval_baselines",
    title="Prompting and retrieval baselines",
    caption="Prompting and retrieval baselines. Panel A: what a method uses, its accuracy against source-train "
    "prototypes, and generated-to-source verification in the style encoder's space; Panel B: quality, and the "
    "models that continued and that distilled author sheets. Outputs of all prompts; the paper's author-style columns "
    "are of a subset of its outputs.",
    rows=method_rows(
        "favor", "average_author", "retrieval", "sheet_retrieval", "sheet_retrieval_without_persona", "sheet"
    ),
    panels=(
        panel(
            "Panel A: Configuration and author-style metrics",
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
        panel(
            "Panel B: Continuation-quality metrics",
            Column("BERTScore", "bertscore_f1"),
            Column("SemSim", "semantic_similarity"),
            Column("MAUVE", "mauve", "semantic"),
            Column("Model", setting="base_model", wide=True),
            Column("Sheet by", setting="sheet_model", wide=True),
        ),
    ),
    section="Prompting and retrieval baselines",
    paper="Table 7",
    open_rows=False,
)

_GLOBAL = ("fedavg", "fedavgm", "fedadam", "fedyogi", "fedprox", "scaffold", "flexlora", "fedex_lora", "ffa_lora")
_PERSONALISED = ("fedavg_finetuned", "pfedme", "ditto", "feddpa", "apfl", "fedrod_lora", "fedsa_lora", "fedalt")
RIVALS = TableSpec(
    label="rivals",
    title="Rivals",
    caption="Methods of personalised federated learning and FAVoR. Accuracy, macro-F1 and verification AUC/EER are "
    "those of the main table, of survivors only. Voice kept: 0 for a voice that is nobody's, 1 for the author's own, "
    "by author accuracy, with a 95 % interval over authors. Bytes up are those of all uploads of a seed. Passes "
    "are those over a client's own text at one participation, or in all.",
    rows=method_rows(*_GLOBAL, *_PERSONALISED, "favor_without_asce", "favor", "local_only", "pooled", "base_only"),
    panels=one_panel(
        Column("Author\nAcc.", "author_accuracy", "style"),
        Column("Macro-\nF1", "author_macro_f1", "style"),
        Column("Verif.\nAUC", "generated_auc", "style"),
        Column("EER", "generated_eer", "style"),
        Column("Voice\nkept", "kept_author_accuracy", "style", decimals=2, interval=True),
        Column("Pass\nrate", "pass_rate"),
        Column("Bytes\nup", "upload_bytes", unit="bytes"),
        Column("Shared\npasses", setting="shared_passes"),
        Column("Personal\npasses", setting="personal_passes"),
    ),
)

FEDDPA_GATE_SENSITIVITY = TableSpec(
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
        Column("Dynamic −\nsummary", method="feddpa_dynamic", minus="feddpa", signed=True, paper="Dynamic - summary"),
    ),
    section="FedDPA gates",
    paper="Table 27",
)


def _setting(name: str, setting: str) -> Row:
    return Row((name,), setting=setting)


def _measured(name: str, metric: str, unit: Unit = "") -> Row:
    return Row((name,), metric=metric, unit=unit, decimals=0)


EFFICIENCY_COMMUNICATION = TableSpec(
    label="efficiency_communication",
    title="Efficiency and communication cost",
    caption="Efficiency and communication cost of FAVoR's runs, mean over seeds. Bytes are those of fp32 adapter files "
    "as they crossed the boundary; the training time adds up the wall times of the jobs as they were run here.",
    stub_headers=("Quantity",),
    rows=(
        _setting("Base model", "base_model"),
        _setting("Quantization", "quantisation"),
        _measured("Trainable PEFT params", "adapter_parameters", "count"),
        _measured("Serialized shared adapter", "shared_adapter_bytes", "bytes"),
        _measured("Rounds", "rounds"),
        _setting("Clients per round", "clients_per_round"),
        _setting("Local epochs", "local_epochs"),
        _setting("Batching", "batching"),
        _setting("Learning rate", "learning_rate"),
        _measured("Upload per client round", "upload_client_bytes", "bytes"),
        _measured("Aggregate upload per round", "upload_round_bytes", "bytes"),
        _measured("Aggregate upload per seed", "upload_bytes", "bytes"),
        _measured("Upload + broadcast per seed", "traffic_bytes", "bytes"),
        _measured("Final private residual storage", "residual_bytes", "bytes"),
        _measured("Runtime per seed", "training_seconds", "seconds"),
    ),
    panels=one_panel(Column("Value", method="favor")),
    section="Efficiency and communication",
    paper="Table 32",
)

COMMUNICATION_BY_METHOD = TableSpec(
    label="communication-by-method",
    title="Communication and training cost of every method",
    caption="Communication and training cost of every method, per seed. A method that shares its federated trajectory "
    "with another is counted with it, as if it had been run alone; private stages that no result needs were not run.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        Column("Upload per\nclient round", "upload_client_bytes", unit="bytes"),
        Column("Upload", "upload_bytes", unit="bytes"),
        Column("Upload +\nbroadcast", "traffic_bytes", unit="bytes"),
        Column("Stays on\nclients", "kept_bytes", unit="bytes"),
        Column("Optimiser\nsteps", "optimiser_steps", decimals=0),
        Column("Supervised\ntokens", "supervised_tokens", unit="count"),
        Column("Training\ntime", "training_seconds", unit="seconds"),
    ),
    with_controls=False,
)
