"""External verifiers one by one: source validity, generated-to-source and generated-to-generated."""

from favor.scores.metric import SOURCE
from favor.tables.specs import Column, TableSpec, evaluator_rows, one_panel

TABLE = TableSpec(
    label="phase1-external-evaluator-details",
    title="External-verifier breakdown",
    caption="External-verifier breakdown. Source AUC checks the verifier on pairs of the clients' human test texts. In "
    "every column same-author pairs are compared with pairs of different authors of one topic.",
    stub_headers=("Method", "Evaluator"),
    rows=evaluator_rows(
        "fedprox",
        "pooled",
        "ditto",
        "feddpa",
        "local_only_asce",
        "favor",
        encoders=("styledistance", "minilm", "stylometry"),
    ),
    panels=one_panel(
        Column("Source AUC", "source_auc", method=SOURCE, deviation="inline"),
        Column("Gen→Src AUC", "generated_source_auc", deviation="inline"),
        Column("Gen→Src EER", "generated_source_eer", deviation="inline"),
        # Unlike the main table's generated pairs, whose negatives are of any topic (paper, L1284).
        Column("Gen→Gen AUC", "generated_auc", variant="same_topic", deviation="inline"),
    ),
    sources=("source_space", "verification"),
    section="External verifiers",
    paper="Table 17",
    open_rows=False,
    ranked_within="encoder",
)
