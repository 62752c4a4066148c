"""FAVoR beside later and simpler methods: style, voice kept, quality, and what each costs."""

from favor.tables.specs import Column, TableSpec, method_rows, one_panel

TABLE = TableSpec(
    label="rivals",
    title="Rivals",
    caption="Methods of personalised federated learning and FAVoR. Accuracy, macro-F1 and verification AUC/EER are "
    "those of the main table, of survivors only. Voice kept: 0 for a voice that is nobody's, 1 for the author's own, "
    "by author accuracy, with a 95 % interval over authors. Bytes up are those of all uploads of a seed. Passes "
    "are those over a client's own text at one participation, or in all.",
    rows=method_rows(
        "fedavg",
        "fedavgm",
        "fedadam",
        "fedyogi",
        "fedprox",
        "scaffold",
        "flexlora",
        "fedex_lora",
        "ffa_lora",
        "fedavg_finetuned",
        "pfedme",
        "ditto",
        "feddpa",
        "apfl",
        "fedrod_lora",
        "fedsa_lora",
        "fedalt",
        "favor_without_asce",
        "favor",
        "local_only",
        "pooled",
        "base_only",
    ),
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
    sources=("prototypes", "verification", "voice_kept", "quality", "efficiency"),
)
