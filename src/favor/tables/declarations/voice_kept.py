"""How much of the authors' voice every method keeps."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows

_SHARES = ("kept_author_accuracy", "kept_generated_source_auc", "kept_author_margin")
_HEADERS = ("Author\naccuracy", "Gen→Src\nAUC", "Margin")

TABLE = TableSpec(
    label="voice-kept",
    title="Voice kept",
    caption="How much of the authors' voice a method keeps: (score − nothing) / (own continuations − nothing). 0 is a "
    "voice that is nobody's (accuracy 1 / authors, AUC 0.5, margin 0), 1 the author's own; another author's voice is "
    "below 0. Margin: similarity to the own author minus the mean similarity to the others. In brackets 95 % intervals "
    "over authors, who keep their outputs of all seeds. Over base: 0 is the base model. Not apart: the interval of own "
    "continuations minus 0's holds 0, so no share is read; a dash: its interval is wider than 2. Nobody wrote human "
    "continuations of the common prompts, so 1 is that of own prompts there; these prompts are fixed. Who loses most: "
    "Spearman's correlation over authors of the voice lost beyond the share that all authors lose with the distance "
    "from the authors' mean, and with words trained on.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            tuple(
                Column(header, metric, "style", decimals=2, interval=True)
                for header, metric in zip(_HEADERS, _SHARES, strict=True)
            ),
            "Over a voice that is nobody's",
        ),
        Panel(
            tuple(
                Column(header, metric, "style", variant="over_base", decimals=2, interval=True, zero="base_only")
                for header, metric in zip(_HEADERS, _SHARES, strict=True)
            ),
            "Over the base model",
        ),
        Panel(
            (
                Column("Author\naccuracy", "kept_common_accuracy", "style", decimals=2, interval=True),
                Column("Margin", "kept_common_margin", "style", decimals=2, interval=True),
            ),
            "On common prompts, over a voice that is nobody's",
        ),
        Panel(
            (
                Column("Distance from\nthe mean", "loss_with_distance", "style", decimals=2, interval=True),
                Column("Words\ntrained on", "loss_with_volume", "style", decimals=2, interval=True),
            ),
            "Who loses most",
        ),
    ),
    sources=("voice_kept",),
    section="Voice kept, diversity and copying",
)
