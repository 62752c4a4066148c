"""How well a method's authors are told from each other, beside how near each of them is to the author."""

from favor.paper.names import METHODS
from favor.tables.specs import Column, TableSpec, method_rows, one_panel


def _score(header: str, metric: str) -> Column:
    return Column(header, metric, "style", variant="score" if metric.startswith("kept_") else "", interval=True)


TABLE = TableSpec(
    label="distinct-faithful",
    title="Distinct against faithful",
    caption="Distinct: a style encoder tells a method's outputs for one author from those for the others. "
    "Faithful: they are nearer to that author's own text than to the others'. "
    "A voice that is nobody's has accuracy 1 / authors, AUC 0.5 "
    "and margin 0. Distinct voices need not be the authors', and the first column cannot tell. It is no share of a "
    "voice either: outputs half of which are in the author's voice have far less than half of its distance from 0.5. "
    "Means over seeds; in brackets 95 % intervals over authors.",
    rows=method_rows(*METHODS),
    panels=one_panel(
        _score("Distinct:\nverif. AUC", "distinct_auc"),
        _score("Faithful:\nauthor accuracy", "kept_author_accuracy"),
        _score("Faithful:\nGen→Src AUC", "kept_generated_source_auc"),
        _score("Faithful:\nmargin", "kept_author_margin"),
    ),
    sources=("voice_kept",),
    section="Voice kept, diversity and copying",
)
