"""How well a method's authors are told from each other, beside how near each of them is to the author."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, Panel, TableSpec, method_rows


def _score(header: str, metric: str) -> Column:
    return Column(header, metric, "style", variant="score", interval=True)


TABLE = TableSpec(
    label="distinct-faithful",
    title="Distinct against faithful",
    caption="Distinct: a method's outputs for one author are told from its outputs for the others. Faithful: they are "
    "near to that author's own text. Distinct voices need not be the authors', and the first column cannot tell. Means "
    "over seeds; in brackets the 95 % interval of a bootstrap over authors.",
    rows=method_rows(*METHODS),
    panels=(
        Panel(
            (
                _score("Distinct:\nverif. AUC", "kept_generated_auc"),
                _score("Faithful:\nauthor accuracy", "kept_author_accuracy"),
                _score("Faithful:\nGen→Src AUC", "kept_generated_source_auc"),
                _score("Faithful:\ntarget similarity", "kept_target_similarity"),
            )
        ),
    ),
    sources=("voice_kept",),
    section="Voice kept, diversity and copying",
)
