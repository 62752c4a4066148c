"""What defences of the shared adapter take from an attacker, and from the authors' voice."""

from favor.tables.specs import POINT, Column, Panel, Row, TableSpec


def _attack(header: str, metric: str, variant: str) -> Column:
    return Column(header, metric, method="fedavg", variant=variant, decimals=2, interval=True)


def _voice(header: str, metric: str, method: str) -> Column:
    return Column(header, metric, "style", method=method, decimals=2, interval=True)


TABLE = TableSpec(
    label="privacy-defences",
    title="Defences",
    caption="What an attacker finds in FedAvg's uploads and shared adapter, and the voice that is kept, under each "
    "defence. Attacks as in the privacy audit; clipped uploads are attacked before noise is added, which the server "
    "does not have where it reads the sum only. Norm: the median L2 norm of the uploads as they are sent. Voice kept: "
    "0 is a voice that is nobody's and 1 the author's own, in margin (similarity to the own author minus the mean "
    "similarity to the others) and in generated-source AUC. 95 % intervals over authors.",
    stub_headers=("Defence",),
    rows=(Row((POINT,), method="fedavg"),),
    panels=(
        Panel(
            (
                Column("Norm of\nuploads", "upload_norm", method="fedavg", variant="upload", decimals=2),
                _attack("Whose is it?\nTop-1, each upload", "sender_top1", "upload"),
                _attack("Linked?\nTop-1, each upload", "link_top1", "upload"),
                _attack("Text trained on?\nAUC, each upload", "text_auc", "upload"),
                _attack("Text trained on?\nAUC, mean", "text_auc", "mean"),
                _attack("Author took part?\nAUC, final adapter", "member_auc", "final"),
                Column("Canary client\nε, at least", "empirical_epsilon", method="fedavg", variant="mean", decimals=1),
            ),
            "What is given away",
        ),
        Panel(
            (
                _voice("FedAvg\nmargin", "kept_author_margin", "fedavg"),
                _voice("FAVoR\nmargin", "kept_author_margin", "favor"),
                _voice("FedAvg\nGen→Src AUC", "kept_generated_source_auc", "fedavg"),
                _voice("FAVoR\nGen→Src AUC", "kept_generated_source_auc", "favor"),
            ),
            "Voice kept",
        ),
    ),
    sources=("voice_kept", "privacy"),
    section="Privacy",
    open_rows=False,
    with_controls=False,
    over_points=True,
)
