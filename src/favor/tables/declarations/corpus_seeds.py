"""How far the scores move when other authors and posts are drawn from one corpus."""

from favor.paper.names import METHODS, method_name
from favor.tables.specs import POINT, Column, Panel, Row, TableSpec

_SCORES = (
    ("Author\nAcc.", "author_accuracy"),
    ("Gen–Gen\nAUC", "generated_auc"),
    ("Gen→Src\nAUC", "generated_source_auc"),
    ("Target\nSim.", "target_similarity"),
)

TABLE = TableSpec(
    label="corpus-seeds",
    title="Other authors of the same corpus",
    caption="The experiment on several draws from one corpus: each has clients, splits, prompts and a style encoder of "
    "its own. The last lines are means over draws ± the sample standard deviation between them. It holds the choice of "
    "authors and posts, the encoder's own authors and the noise of training. With several training seeds, the ± of one "
    "draw is over these. Every draw has a style space of its own, so differences from FAVoR, which stay within a draw, "
    "are the safer reading.",
    stub_headers=("Method", "Draw"),
    rows=tuple(Row((method_name(key), POINT), method=key, ranked=False) for key in METHODS),
    panels=(
        Panel(tuple(Column(header, metric, "style") for header, metric in _SCORES), "Scores"),
        Panel(
            tuple(Column(header, metric, "style", minus="favor", signed=True) for header, metric in _SCORES),
            "Minus FAVoR's of the same draw",
        ),
    ),
    sources=("prototypes", "verification"),
    open_rows=False,
    with_controls=False,
    over_points=True,
    spread="Mean ± SD",
)
