"""Which author's profile every method's outputs fit, by verifiers beside the paper's measures."""

from favor.paper.names import METHODS, encoder_name
from favor.scores.metric import SOURCE
from favor.tables.differences import minus
from favor.tables.specs import Column, Panel, TableSpec, method_rows

VERIFIERS = ("lambdag", "style", "stylometry", "minilm")
RIVAL = "favor"  # the row that the others are compared with


def _columns(verifier: str) -> tuple[Column, ...]:
    return (
        Column("Accuracy,\nfailures wrong", "profile_accuracy", verifier, variant="failures_wrong", interval=True),
        Column("AUC", "profile_auc", verifier, interval=True),
        Column("Ratio\n(log10)", "profile_ratio", verifier, decimals=2, interval=True),
        Column("Accuracy,\ncommon prompts", "profile_accuracy", verifier, variant="common", interval=True),
        Column("Cllr", "profile_cost", verifier, decimals=2),
    )


def _minus(variant: str, title: str) -> Panel:
    columns = [Column(encoder_name(name), derive=minus("profile_auc", RIVAL, name, variant)) for name in VERIFIERS]
    return Panel(tuple(columns), title)


TABLE = TableSpec(
    label="author-profiles",
    title="Author profiles",
    caption="Every output against the profile of every author. LambdaG (Nini et al. 2025) compares the grammar of "
    "text without its content words; in the other panels the profile is the mean of the author's posts in an "
    "encoder's space. Profiles are made of posts that no adapter was trained on as far as there is enough, and never "
    "of posts behind prompts; the last panel says how much of them was trained on. Ten successive words that are in a "
    "training text or a prompt count nothing with LambdaG; encoders leave an output out where they are over a quarter "
    "of it. Accuracy: the own profile fits best. AUC: own profiles against others'. Ratio: mean log10 likelihood ratio "
    "of own against other author, calibrated on human text of other authors; Cllr above 1 means that the ratios "
    "mislead. LambdaG reads outputs cut to the words of the human continuation. Own continuations are the "
    "ceiling, shuffled ones the floor. Brackets are 95 % intervals over authors; common prompts "
    "are fixed. Minus FAVoR: paired differences over authors, Holm's p over the column.",
    rows=method_rows(*METHODS),
    panels=(
        *(Panel(_columns(verifier), encoder_name(verifier)) for verifier in VERIFIERS),
        _minus("", "AUC minus FAVoR"),
        _minus("common", "AUC minus FAVoR, common prompts"),
        Panel(
            (
                Column("Words of\na profile", "profile_words", method=SOURCE, decimals=0),
                Column("Share\ntrained on", "profile_trained", method=SOURCE, decimals=2),
            ),
            "Profiles, the same for all methods",
        ),
    ),
    sources=("profiles",),
    section="Voice kept, diversity and copying",
)
