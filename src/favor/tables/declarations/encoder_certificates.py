"""Encoders put to the test before anything is measured with them: STEL, STEL-or-Content, and the writers' own texts."""

from favor.paper.names import encoder_name
from favor.scores.metric import SOURCE
from favor.tables.specs import Column, Panel, Row, Scores, TableSpec

DIMENSIONS = {
    "contraction": "Contrac-\ntions",
    "nbr_substitution": "Number\nsubst.",
    "emotives": "Emotives",
    "em-subj-pronoun": "Subject\npronoun",
}


def encoder_rows_of(scores: Scores) -> tuple[Row, ...]:
    """Return a row for every encoder that was scored."""
    return tuple(
        Row((encoder_name(key),), SOURCE, key, ranked=False, encoder_place=0) for key in sorted(set(scores["encoder"]))
    )


def _by_dimension(metric: str) -> tuple[Column, ...]:
    return (Column("Mean", metric), *(Column(name, metric, variant=key) for key, name in DIMENSIONS.items()))


TABLE = TableSpec(
    label="encoder-certificates",
    title="Certified encoders",
    caption="What the encoders know of style. STEL: which of two sentences has the style of which of two others with "
    "another content (chance 0.5). STEL-or-Content: whether a sentence is nearer to one of its style with "
    "another content than to one of its content in another style; an encoder of content alone has 0. Ties count half. "
    "Human texts: whether held-out texts of the clients are nearest to their author's centroid of training texts, the "
    "AUC of own against other centroids, and whether the nearest other held-out text is the author's, with 95 % "
    "intervals over authors. Same topic: among authors of one topic.",
    stub_headers=("Encoder",),
    rows=(),
    row_source=encoder_rows_of,
    panels=(
        Panel((*_by_dimension("stel"), Column("Items", "stel_items", decimals=0)), "STEL"),
        Panel(_by_dimension("stel_or_content"), "STEL-or-Content"),
        Panel(
            (
                Column("AUC", "retrieval_auc", interval=True),
                Column("Author\nfound", "retrieval_accuracy", interval=True),
                Column("Chance", "retrieval_chance"),
                Column("MRR", "retrieval_mrr"),
                Column("Neighbour's\nauthor", "neighbour_accuracy", interval=True),
                Column("Chance,\nneighbour", "neighbour_chance"),
            ),
            "Human texts",
        ),
        Panel(
            (
                Column("AUC", "retrieval_auc", variant="same_topic", interval=True),
                Column("Author\nfound", "retrieval_accuracy", variant="same_topic", interval=True),
                Column("Chance", "retrieval_chance", variant="same_topic"),
            ),
            "Human texts, same topic",
        ),
    ),
    sources=("author_retrieval", "stel"),
    section="Further tables of this workflow",
    open_rows=False,
    with_controls=False,
)
