"""How much of the authors' voice every method keeps."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows

_SHARES = ("kept_author_accuracy", "kept_generated_source_auc", "kept_target_similarity", "kept_generated_auc")
_HEADERS = ("Author\naccuracy", "Gen→Src\nAUC", "Target\nsimilarity", "Distinct authors\n(verif. AUC)")

TABLE = TableSpec(
    label="voice-kept",
    title="Voice kept",
    caption="How much of the authors' voice a method keeps: (score − floor) / (ceiling − floor), where 0 is another "
    "author's continuation and 1 the author's own. In brackets the 95 % interval of a paired bootstrap over authors, "
    "who keep their outputs of all seeds. The first three columns ask whether a text is near to its own author; the "
    "last one asks only whether the authors can be told apart. Over base: the floor is the base model. A dash means "
    "that ceiling and floor are not apart. Nobody wrote human continuations of the common prompts, so both ends are "
    "those of own prompts there. Who loses most: Spearman's correlation over authors of the similarity lost against "
    "own text with the author's distance from the authors' mean, and with the words trained on.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            tuple(
                Column(header, metric, "style", decimals=2, interval=True)
                for header, metric in zip(_HEADERS, _SHARES, strict=True)
            ),
            "Over shuffled authors",
        ),
        Panel(
            tuple(
                Column(header, metric, "style", variant="over_base", decimals=2, interval=True)
                for header, metric in zip(_HEADERS, _SHARES, strict=True)
            ),
            "Over the base model",
        ),
        Panel(
            (
                Column("Author\naccuracy", "kept_common_accuracy", "style", decimals=2, interval=True),
                Column("Target\nsimilarity", "kept_common_similarity", "style", decimals=2, interval=True),
            ),
            "On common prompts, over shuffled authors",
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
